/** A deploy or rollback whose caller chose its id: running it again returns how it ended. */
import { findApp } from '@runner/common/apps/store';
import { instancesOf, kindOf, projectOf, textOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import { invalidValue } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

/** The options of commands that can be given an id. */
export const ID_OPTIONS = {
  'deploy-id': {
    placeholder: 'ID',
    about:
      'Deploy id, 8 hexadecimal digits; if it exists, wait for that deploy and print its result',
  },
  trigger: {
    placeholder: 'WORD',
    about: 'What started it, for the audit log [default: manual]',
  },
} as const;

/** The values of those options. Throws `usage`. */
export function givenIdOf(options: Record<keyof typeof ID_OPTIONS, string | undefined>) {
  const { 'deploy-id': deployId, trigger = 'manual' } = options;
  if (deployId !== undefined && !/^[0-9a-f]{8}$/.test(deployId)) {
    throw invalidValue(deployId, '--deploy-id <ID>', 'it must be 8 hexadecimal digits');
  }
  if (!/^[a-z]{1,20}$/.test(trigger))
    throw invalidValue(trigger, '--trigger <WORD>', 'it must be 1 to 20 letters a-z');
  return { deployId, trigger };
}

/**
 * The end of a deploy or rollback in the log; undefined if the log does not know the id, or it has not
 * ended. Throws `usage` for the id of another app's deploy.
 */
export function recordedEnd(
  paths: Paths,
  app: string,
  deployId: string | undefined,
  success: 'DeploySuccess' | 'RollbackSuccess',
) {
  // Running, or killed and not cleaned up yet.
  if (deployId === undefined || findApp(paths, app)?.deploying?.deploy_id === deployId)
    return undefined;
  const records = eventsOfDeploy(paths, deployId);
  const foreign = records.map(projectOf).find((project) => project !== app);
  if (foreign !== undefined) {
    throw invalidValue(deployId, '--deploy-id <ID>', `it is a deploy of '${foreign}'`);
  }
  const find = (kind: string) => records.find((record) => kindOf(record) === kind);
  const failure = find('DeployFailure');
  const last = failure ?? find(success);
  if (!last) return undefined;
  return {
    /** Of the kind that decides. */
    last,
    isSuccess: !failure,
    instance: failure
      ? textOf(last, 'failed_instance') || instancesOf(last).join(',')
      : instancesOf(last).join(','),
    isRolledBack: last.rolled_back === true || (!!failure && find('RollbackSuccess') !== undefined),
    error: textOf(last, 'error'),
  };
}
