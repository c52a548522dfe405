/**
 * `npm run test:system`: the life of a server, in a booted systemd-nspawn: the package is installed, an
 * app is added, a timer deploys what is pushed; failures, rotation, a restart, an upgrade and back, the
 * end. Prints a transcript. Skipped, with the reason, where no system can be booted.
 */
import { whyNoContainer } from '@runner/testing/container';
import { play } from './system/story.ts';

const why = whyNoContainer();
if (why !== undefined) {
  process.stdout.write(`test:system: skipped: ${why}\n`);
} else {
  play().then(
    (steps) => process.stdout.write(`\n${steps} passed, 0 failed, 0 skipped\n`),
    (error: unknown) => {
      process.exitCode = 1;
      const words = error instanceof Error ? error.message : String(error);
      process.stdout.write(`\nThe story did not go as told: ${words}\n1 failed\n`);
    },
  );
}
