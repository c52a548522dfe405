/** `npm run demo`: a whole deploy story on loopback; `-- --keep` leaves its root for a look around. */
import { play } from './demo/story.ts';

play(process.argv.includes('--keep')).then(
  () => {
    process.exitCode = 0;
  },
  (error: unknown) => {
    process.stderr.write(
      `\nThe story did not go as told: ${error instanceof Error ? error.message : error}\n`,
    );
    process.exitCode = 1;
  },
);
