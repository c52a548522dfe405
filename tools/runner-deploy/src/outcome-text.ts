/** How a deploy ended, for people. */
import type { Style } from '@runner/common/cli/output';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { activeWords, type DeployOutcome } from '@runner/deploy/pipeline/outcome';

export function outcomeText(outcome: DeployOutcome, style: Style): string {
  const { app, version, result, duration_ms: took } = outcome;
  const name = style.bold(`${harmlessLine(app)} ${harmlessLine(version)}`);
  if (result === 'deployed') {
    const where = [...new Set(Object.values(outcome.urls ?? {}))].join(', ');
    const at = where === '' ? '' : `, at ${harmlessLine(where)}`;
    return `${style.green('Deployed')} ${name} in ${(took / 1000).toFixed(1)} s [${outcome.deploy_id}]${at}\n`;
  }
  const active = outcome.active_version !== null;
  const now = active ? `${activeWords(outcome)}.` : 'Nothing is active now.';
  const how = outcome.rollback_error
    ? `The rollback failed too: ${harmless(outcome.rollback_error)}. It is uncertain what is running now: check the app.`
    : result === 'rolled_back'
      ? rolledBack(outcome, now)
      : now;
  const unfit = outcome.unfit === undefined ? '' : ` ${harmlessLine(outcome.unfit)}.`;
  return `${style.red('Failed')} ${name} at ${outcome.stage} [${outcome.deploy_id}]. ${how}${unfit}\n`;
}

/** What went back, where another instance did not. */
function rolledBack({ instance, kept, version }: DeployOutcome, now: string): string {
  if (kept === undefined) return `Rolled back. ${now}`;
  const [back, on] = [harmlessLine(instance), harmlessLine(kept)];
  return `Rolled back ${back}. ${now.replace(/\.$/, ` on ${back}`)}, ${harmlessLine(version)} on ${on}.`;
}
