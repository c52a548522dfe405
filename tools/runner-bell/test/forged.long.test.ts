import { suite } from 'uvu';
import { startBell } from './clients.ts';
import { forge } from './forged.ts';

const test = suite('forged calls');

test('10,000 forged calls start nothing and leak nothing', async () => {
  const bell = await startBell();
  await forge(bell, 10_000, 2);
  await bell.close();
});

test.run();
