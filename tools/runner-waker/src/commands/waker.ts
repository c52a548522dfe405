import { command } from '@runner/common/cli/command';
import { serve } from '../server.ts';

export const waker = command({
  needsRoot: true,
  about: 'Wake sleeping apps at their first request',
  details:
    'The requests of an app that sleeps come here: the app is started, and gets the request. Started by\n' +
    'runner-waker.socket, it ends after a minute without a connection. Elsewhere it listens until it is\n' +
    'ended.',
  examples: ['runner waker'],
  async run({ io, paths, note }) {
    const stop = new AbortController();
    const remove = io.onSignal(() => stop.abort());
    await serve({ io, paths, note }, stop.signal);
    remove();
    return {};
  },
});
