/** A key pair for backups of tests. */

/** The age public key. */
export const RECIPIENT = 'age1fu3cx8f30x9crvjxugzslyedx32qc8dfrrq9hxncm8udxnnzx99srujfg0';
/** Its secret key, which opens nothing but the backups of tests. */
export const IDENTITY =
  'AGE-SECRET-KEY-1TG0JHRZ35S9XLWJ8CDTESPAS2L55VJNDF6QGANCQLWNYSK848PZSWKNMQR';
