/** A supervisor that is asked how an instance is, and never answers. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { statusOf } from '../../libs/deploy/test/drivers/place.ts';

test('a supervisor that hangs is abandoned, and the state of the instance is unknown', () => {
  const folder = temporaryFolder('bin');
  const program = join(folder, 'pm2');
  writeFileSync(program, "#!/bin/sh\ntrap '' TERM\nexec sleep 600\n");
  chmodSync(program, 0o755);
  // Without a daemon that runs it would not be asked.
  writeFileSync(join(folder, 'pm2.pid'), String(process.pid));
  const env = { PATH: `${folder}:${process.env.PATH}`, PM2_HOME: folder };
  const begun = performance.now();
  assert.is(statusOf(folder, 'start: { type: pm2, run: node server.js }\n', env), 'unknown');
  // By its own end it would have known, after ten minutes.
  assert.ok(performance.now() - begun < 300_000);
});

test.run();
