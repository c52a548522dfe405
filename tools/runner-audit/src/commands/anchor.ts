import { headText } from '@runner/common/audit/chain';
import { tipOf } from '@runner/common/audit/tip';
import { command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';

export const anchor = command({
  name: 'anchor',
  about: 'Print the newest record of the chain, for runner audit verify --anchor',
  details:
    'Keep it on another machine. As long as verify finds this record with this hash, neither it nor any\n' +
    'earlier record has been changed.',
  safeInForeignRoot: true,
  async run({ paths }) {
    const head = tipOf(paths)?.head;
    if (!head) throw new Failure('log_not_found', `no record is chained yet: ${paths.auditLog}`);
    const { seq, hash } = head;
    return { value: { anchor: headText(head), seq, hash } };
  },
  human: ({ anchor: text }: { anchor: string }) => `${text}\n`,
});
