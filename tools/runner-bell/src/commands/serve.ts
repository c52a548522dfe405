import { command } from '@runner/common/cli/command';
import { invalidValue } from '@runner/common/foundation/failure';
import { DIR, folderOf } from '../folder.ts';
import { answerOne, listen } from '../server.ts';

export const serve = command({
  name: 'serve',
  about: 'Answer calls from code hosts; the default command',
  details:
    "Accepts POST /<app>, signed with the app's secret, and creates a file in the bell's folder; systemd\n" +
    'then starts runner-fetch.service. The content of the call is ignored: fetch asks git for new\n' +
    'commits. Without --listen it answers one connection on standard input, from runner-bell.socket.',
  options: {
    listen: {
      placeholder: 'ADDRESS',
      about: 'Listen on this address, such as 127.0.0.1:9190',
    },
    dir: DIR,
  },
  examples: ['runner bell --listen 127.0.0.1:9190'],
  async run({ io, options, note }) {
    const folder = folderOf(options.dir, io.env);
    const request = { folder, now: io.now, note };
    if (options.listen === undefined) {
      await answerOne(request);
      return {};
    }
    const address = addressOf(options.listen);
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    await listen(request, address, stop.signal);
    return {};
  },
});

function addressOf(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 65_535)
    throw invalidValue(
      text,
      '--listen <ADDRESS>',
      'give an address and a port, such as 127.0.0.1:9190',
    );
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
