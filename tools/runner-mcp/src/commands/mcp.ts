import { command } from '@runner/common/cli/command';
import { readGrant } from '@runner/deploy/approval/grants';
import { serve } from '../serve.ts';

export const mcp = command({
  about: 'Let an agent look at apps and propose plans, over MCP on stdio',
  details:
    'It speaks the Model Context Protocol. An agent starts it, usually over ssh: a grant of this server names\n' +
    'its apps and what it may do there (runner grant add). Nothing that the agent says raises that; a plan\n' +
    'is approved by a person. Without --grant it may look at all apps, as the user who started it.',
  options: {
    grant: {
      placeholder: 'NAME',
      about: 'What the agent may do; in the forced command of its key',
    },
  },
  examples: ['runner mcp --grant claude'],
  async run({ io, paths, options, note }) {
    const { grant } = options;
    await serve({ io, paths, note }, grant === undefined ? undefined : readGrant(io.env, grant));
    return {};
  },
});
