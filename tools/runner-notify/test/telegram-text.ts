/** What the short and the long tests of telegram text share. */

export const silent = () => {};
