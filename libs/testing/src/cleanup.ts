/**
 * What a test or the demo leaves behind is removed when its process ends, whether it passed, threw
 * or was interrupted. Newest first: children are ended before the folders that they write to go.
 */

const actions: (() => void)[] = [];
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
let listening = false;

function runAll(): void {
  for (let action = actions.pop(); action !== undefined; action = actions.pop()) {
    try {
      action();
    } catch {
      // The next one still has its turn; there is no one left to report to.
    }
  }
}

function listen(): void {
  listening = true;
  process.on('exit', runAll);
  for (const [signal, status] of Object.entries(signals)) {
    process.on(signal, () => {
      // A program with a handler of its own decides when it ends.
      if (process.listenerCount(signal) === 1) process.exit(status);
    });
  }
}

/**
 * Calls `action`, which must be synchronous, when this process ends. Returns a function that takes
 * it off the list again.
 */
export function atExit(action: () => void): () => void {
  if (!listening) listen();
  actions.push(action);
  return () => {
    const at = actions.lastIndexOf(action);
    if (at >= 0) actions.splice(at, 1);
  };
}
