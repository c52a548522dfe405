/** Values that say where something is. */

/** The folders at the top of a server: base64 may begin with a slash, too, but not with these. */
const PATH = /^\/(?:data|dev|etc|home|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var)(?:\/|$)/;
/** `sqlite:/opt/x.db`: a path without `//`. */
const FILE = /^(?:jdbc:)?(?:file|libsql|sqlite3?|unix):/i;

/** Whether most of a value is no secret. */
export function isAddress(value: string): boolean {
  return value.includes('://') || FILE.test(value);
}

/** A part of a path that may be a token: 16 characters with letters and digits. */
const TOKEN = /\/(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{16,}(?=[/.]|$)/i;

/** Whether it is a file's absolute path, and no credential. */
export function isPath(value: string): boolean {
  return PATH.test(value) && !/\s/.test(value) && !TOKEN.test(value);
}
