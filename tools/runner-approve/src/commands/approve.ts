import { command } from '@runner/common/cli/command';
import { personOf } from '@runner/common/files/person';
import { readGiven } from '@runner/common/files/read';
import { harmlessLine } from '@runner/common/text/harmless';
import {
  type ApprovedPlan,
  approve as approvePlan,
  signedApproval,
} from '@runner/deploy/plan/approve';

/** Bytes; those of ssh-keygen have a few hundred. */
const SIGNATURE_MAX = 65_536;

export const approve = command({
  about: 'Approve a plan',
  details:
    'Approves it as the user who runs this, before sudo, or as the signer of --signature, if config.yml\n' +
    'lists them. The last approval that the plan needs starts runner apply in the background.',
  positionals: { id: { required: true, about: 'Id of the plan', listedBy: 'runner plan list' } },
  options: {
    reason: { placeholder: 'TEXT', about: 'Reason, for the audit log' },
    signature: {
      placeholder: 'FILE',
      about:
        'Take the approval from this signature over runner plan show <id> --text; - reads stdin',
    },
    'no-apply': { about: 'Do not start runner apply' },
  },
  examples: [
    'runner approve p-1a2b3c4d',
    'runner plan show p-1a2b3c4d --text | ssh-keygen -Y sign -n runner-approval -f KEY | runner approve p-1a2b3c4d --signature -',
  ],
  async run({ io, paths, args: { id }, options, note }) {
    const file = options.signature;
    const signed =
      file === undefined
        ? undefined
        : signedApproval({ paths }, id, readGiven(io, file, SIGNATURE_MAX, 'the signature'));
    const who = signed ?? { by: personOf(io), how: 'user' as const };
    const { reason, 'no-apply': leaves } = options;
    return {
      value: await approvePlan({
        io,
        paths,
        id,
        ...who,
        reason,
        applies: !leaves,
        reporter: { note },
      }),
    };
  },
  human({ plan, app, approved_by, applying, waits }: ApprovedPlan, style) {
    const by = harmlessLine(approved_by.join(', '));
    const next = applying
      ? `it is being applied: runner status ${harmlessLine(app)}`
      : (waits ?? `runner apply ${plan}`);
    return `${style.green('Approved')} ${style.bold(plan)} by ${by}; ${harmlessLine(next)}\n`;
  },
});
