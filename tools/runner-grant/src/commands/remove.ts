import { command } from '@runner/common/cli/command';
import { changeGrants, type Grant, readGrant } from '@runner/deploy/approval/grants';
import { requireRoot } from '../root.ts';

export const remove = command({
  name: 'remove',
  about: 'Remove a grant and its key',
  safeInForeignRoot: true,
  positionals: {
    name: { required: true, about: 'Name of the grant', listedBy: 'runner grant list' },
  },
  async run({ io, args: { name } }) {
    requireRoot(io);
    const grant = readGrant(io.env, name);
    changeGrants(io, name, undefined);
    return { value: grant };
  },
  human: ({ name }: Grant, style) => `${style.green('Removed')} ${style.bold(name)}\n`,
});
