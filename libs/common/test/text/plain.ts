/** What the short and the long tests of plain share. */

export const FAMILY = '👩‍👩‍👧‍👦';
