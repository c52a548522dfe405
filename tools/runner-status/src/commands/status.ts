import type { AppSummary } from '@runner/common/app-summary';
import { command } from '@runner/common/command';
import { harmlessLine } from '@runner/common/harmless';
import { fields } from '@runner/common/output';

export const status = command({
  name: '',
  about: 'Show one app in detail',
  positionals: { app: { required: true, about: 'Name of the app' } },
  async run(context) {
    const { statusOf } = await import('../state.ts');
    return { value: await statusOf(context.paths, context.args.app) };
  },
  human(app: AppSummary, style) {
    const rows: [string, string][] = [
      ['state:', app.state],
      ['repo:', app.repo],
      ['branch:', app.branch],
      ['token:', app.token ? 'stored, encrypted' : 'none'],
    ];
    for (const { instance, current, previous } of app.instances) {
      const since = current
        ? ` since ${current.deployed_at} (commit ${current.commit.slice(0, 12)}, deploy ${current.deploy_id})`
        : '';
      rows.push([`${instance}:`, current ? `${current.version}${since}` : 'nothing runs']);
      if (previous.length > 0)
        rows.push(['', `before: ${previous.map((each) => each.version).join(', ')}`]);
    }
    if (app.deploying) {
      const { deploy_id, stage, started, pid } = app.deploying;
      rows.push(['deploying:', `${deploy_id}, at ${stage}, since ${started}, process ${pid}`]);
    }
    if (app.failures) {
      const { commit, count, last_at, stage } = app.failures;
      const limit =
        app.state === 'blocked'
          ? ', automatic deploys of it are blocked'
          : ` of ${app.max_deploy_retries}`;
      rows.push([
        'failures:',
        `${count}${limit}: commit ${commit.slice(0, 12)}, last at ${stage}, ${last_at}`,
      ]);
    }
    if (app.held)
      rows.push([
        'held:',
        `commit ${app.held.commit.slice(0, 12)} since ${app.held.since}: ${app.held.reason}`,
      ]);
    if (app.last_checked) rows.push(['checked:', app.last_checked]);
    const shown = rows.map(([label, value]) => [harmlessLine(label), harmlessLine(value)] as const);
    return `${style.bold(harmlessLine(app.app))}\n${fields(shown)}`;
  },
});
