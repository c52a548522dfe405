import { suite } from 'uvu';
import { driverContract } from '../../libs/deploy/test/drivers/contract.ts';
import { placeHere } from '../../libs/deploy/test/drivers/place.ts';
import { FILES, startPm2 } from './pm2.ts';

const test = suite('pm2 for real, with an ecosystem file');

driverContract(test, 'pm2 with config', async () => {
  const { env, kill } = await startPm2();
  const place = await placeHere(() => 'start: { type: pm2, config: app.config.js }', env, kill);
  const { git } = place;
  const commit: typeof git.commit = (repo, own, ...rest) =>
    git.commit(repo, { ...FILES, ...own }, ...rest);
  return { ...place, git: { ...git, commit } };
});

test.run();
