/**
 * What the sandbox does that the output of a failed command may be about. The output is the commit's: it
 * chooses one of these sentences at most, and no path, name or setting in them.
 */

/** What is printed of a process that the sandbox hides. */
const UNSEEN = /kill: .*No such process/i;

const EFFECTS: readonly (readonly [RegExp, string])[] = [
  [
    /sudo: .*no new privileges|sudo: effective uid is not 0|su: (?:cannot set|must be run)/i,
    'allows no sudo',
  ],
  [/docker\.sock|Cannot connect to the Docker daemon/i, 'hides the docker socket'],
  [
    /Failed to connect to (?:system |user )?(?:scope )?bus|system_bus_socket|not been booted with systemd/i,
    'hides the buses of systemd: use start: { type: systemd }',
  ],
  [/No journal files were found|No such file or directory.*journal/i, 'hides the journal'],
  [
    UNSEEN,
    "hides the server's processes: what it was to end may still run; use start: { type: process }, which runner ends",
  ],
  [
    /EROFS|Read-only file system|readonly database|unable to open database file/i,
    'lets commands write only to the release, shared/, /tmp and what is new or a cache in HOME',
  ],
];

/** `it ran in the sandbox, which allows no sudo`; undefined if nothing points to it. */
export function effectOf(output: string): string | undefined {
  const effect = EFFECTS.find(([words]) => words.test(output))?.[1];
  return effect && `it ran in the sandbox, which ${effect}; see: runner doctor --sandbox`;
}

/** Whether a process may run on that the command was to end. */
export const mayBeLeft = (output: string) => UNSEEN.test(output);
