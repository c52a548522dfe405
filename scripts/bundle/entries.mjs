import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../tasks/checkout.mjs';

/** What a tool without a main.ts runs: its only command, which says what both are for. */
const onlyCommand = (tool) => `
  import { main } from '@runner/common/cli/main';
  import * as file from './tools/${tool}/src/commands/${tool.replace('runner-', '')}.ts';
  const [only] = Object.values(file);
  main({ name: '${tool}', about: only.about, commands: [only] });`;

/** For esbuild: `tool:runner-add` is what the executable runs. */
export const entries = {
  name: 'entries',
  setup(builder) {
    builder.onResolve({ filter: /^tool:/ }, ({ path }) => ({ path, namespace: 'tool' }));
    builder.onLoad({ filter: /./, namespace: 'tool' }, ({ path }) => {
      const tool = path.slice('tool:'.length);
      const own = `./tools/${tool}/src/main.ts`;
      const contents = existsSync(join(checkout, own)) ? `import '${own}';` : onlyCommand(tool);
      return { contents, resolveDir: checkout };
    });
  },
};
