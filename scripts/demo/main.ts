/**
 * `npm run demo`: a whole deploy story on loopback; `-- --keep` leaves its root for a look around.
 * `npm run demo -- --history`: a root with half a year of made-up history.
 */
import { showHistory } from './history/main.ts';
import { interrupt } from './narration.ts';
import { play } from './story.ts';

const STATUS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

const args = process.argv.slice(2);
const surplus = args.find((each) => each !== '--keep' && each !== '--history');
if (surplus === undefined) tell();
else {
  process.stderr.write(`demo: unexpected argument '${surplus}'; it knows --keep and --history\n`);
  process.exitCode = 2;
}

function tell(): void {
  let interrupted = 0;
  for (const [signal, status] of Object.entries(STATUS) as [keyof typeof STATUS, number][]) {
    process.on(signal, () => {
      // A second signal does not wait for the end of a rollback.
      if (interrupted > 0) process.exit(status);
      interrupted = status;
      interrupt(signal);
    });
  }
  (args.includes('--history') ? showHistory() : play(args.includes('--keep'))).then(
    () => {
      process.exitCode = interrupted;
    },
    (error: unknown) => {
      const why = error instanceof Error ? error.message : error;
      process.stderr.write(interrupted ? '' : `\nThe story did not go as planned: ${why}\n`);
      process.exitCode = interrupted || 1;
    },
  );
}
