/** The story: an app added, deployed, broken twice, and what the operator sees of it. */
import { versionFiles } from './app.ts';
import { discordMessages, telegramMessages } from './chats.ts';
import { expect, say, show, type } from './narration.ts';
import { REPO, type Stage, setStage, TOKEN } from './stage.ts';
import { tellOfTraffic } from './traffic.ts';

/** Plays it; rejects at the first thing that is not as announced. */
export async function play(keep: boolean): Promise<void> {
  const stage = await setStage();
  try {
    await tell(stage);
    await tellOfTraffic(stage);
    if (keep)
      say(`The root is left in ${stage.root}; look around with: export RUNNER_ROOT=${stage.root}`);
  } finally {
    await stage.close(keep);
  }
}

async function tell(stage: Stage): Promise<void> {
  const { root, git, port } = stage;
  const run = (command: string, wanted = 0, stdin = '') => type(command, root, wanted, stdin);
  const push = (version: string, fault: 'none' | 'build' | 'health') =>
    git.commit(REPO, versionFiles(version, port, fault), `Release ${version}`, { tag: version });
  const visit = async (wanted: string) => {
    const page = await stage.page();
    show(`GET http://127.0.0.1:${port}/ -> ${page}`);
    expect(page === wanted, `the page says ${wanted}`);
  };

  say(
    "A git host, a code host and two chats stand on loopback. The app's token is read from stdin.",
  );
  await push('v1.0.0', 'none');
  await run(`runner add --repo ${REPO} --branch main --token -`, 0, TOKEN);
  await run('runner tokens test shop');

  say('The first deploy: a real clone with the token, a build, a start, a health check.');
  await run('runner deploy shop');
  await visit('v1.0.0');

  say('Somebody pushes v1.1.0. It does not compile.');
  await push('v1.1.0', 'build');
  const broken = await run('runner deploy shop', 1);
  expect(broken.stdout.includes('v1.0.0 is active'), 'the version before stays active');
  await visit('v1.0.0');
  const why = await run('runner debug last-error shop');
  expect(why.stdout.includes('error TS2339'), 'last-error names the cause');

  say('The fix compiles, but does not become healthy: v1.2.0 is rolled back automatically.');
  await push('v1.2.0', 'health');
  const sick = await run('runner deploy shop', 1);
  expect(sick.stdout.includes('Rolled back'), 'the deploy is rolled back');
  await visit('v1.0.0');
  await run('runner debug last-error shop');

  say('What is registered and runs, and what the audit log says.');
  await run('runner list');
  const log = await run('runner audit tail');
  expect(log.stdout.trim().split('\n').length === 7, 'the log holds seven events');

  say('The tools work in pipes, too.');
  await run('runner-audit emit DeploySuccess --project docs --version v9 | runner-notify send');

  say('And this is what the chats received.');
  const [telegram, discord] = [telegramMessages(stage), discordMessages(stage)];
  for (const message of [...telegram, ...discord.slice(0, 3)]) show(`\n${message}`);
  if (discord.length > 3) show(`\n… and ${discord.length - 3} more in Discord, the same events.`);
  // Started, success; started, failure with its log; started, failure, rollback; the one of the pipe.
  expect(telegram.length === 9, `Telegram received nine messages, not ${telegram.length}`);
  expect(discord.length === 9, `Discord received nine messages, not ${discord.length}`);
  expect(
    !JSON.stringify([stage.telegram.messages, stage.discord.messages]).includes(TOKEN),
    'no message holds the token',
  );
}
