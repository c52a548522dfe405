import type { Tool } from '@runner/common/cli/command';

/** What the executable is, whichever of its commands it holds. */
export const ABOUT: Omit<Tool, 'commands'> = {
  name: 'runner-audit',
  about: 'Write and read the audit log of deploy events',
};
