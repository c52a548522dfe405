import type { Tool } from '@runner/common/cli/command';

/** What the executable is, whichever of its commands it holds. */
export const ABOUT: Omit<Tool, 'commands'> = {
  name: 'runner-debug',
  about: 'Tell why the last deploy failed',
};
