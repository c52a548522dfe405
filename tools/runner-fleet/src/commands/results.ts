import { command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { readAll } from '@runner/common/foundation/io';
import { readServers } from '@runner/fleet/files/operator';
import { sealedTextOf } from '@runner/fleet/order/seal';
import { lineText, type ServerLine, statusOf, verified } from '../rollout/line.ts';
import { INPUT_MAX } from './plumbing.ts';

export const results = command({
  name: 'results',
  about: 'Show what the servers answered; with - from standard input',
  positionals: { rollout: { required: true, about: 'Id of the rollout, or -' } },
  exits: [
    [3, 'On a server the rollback failed too'],
    [4, 'Some servers have not answered'],
  ],
  async run(context) {
    const { io, paths, print } = context;
    const servers = readServers(paths.root);
    const lines: ServerLine[] = [];
    for (const text of readAll(io.stdin, INPUT_MAX, 'standard input').split('\n').filter(Boolean)) {
      const line = verified(sealedTextOf(text), servers);
      if (!line) throw new Failure('signature_invalid', 'a result is not signed by its server');
      lines.push(line);
      await print(line);
    }
    return { status: statusOf(lines) };
  },
  human: (line: ServerLine, style) => lineText(line, style),
});
