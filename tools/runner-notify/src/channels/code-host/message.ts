/** The commit status for a deploy's event. */
import { textOf } from '@runner/common/audit/record';
import { cleanText, cutCodePoints } from '@runner/common/text/plain';
import { durationText } from '@runner/common/text/time';
import type { Announceable } from '../../message/records.ts';
import type { Message } from '../../service/contract.ts';
import type { Fields } from '../../service/fields.ts';
import { onlyForm } from '../../service/section.ts';

/** The state of a commit. */
export interface CommitPost {
  readonly commit: string;
  readonly state: 'pending' | 'success' | 'failure';
  readonly description: string;
  readonly deployId: string;
  /** Only update an existing deployment. */
  readonly isCorrection: boolean;
}

/** GitHub's limit for a description. */
const DESCRIPTION_MAX = 140;

/** The message of an event; undefined for one that concerns no commit. */
export function commitMessage({ kind, project, fields }: Announceable): Message | undefined {
  const posts = postsOf(kind, (name) => textOf(fields, name), fields.duration_ms).filter(
    ({ commit }) => /^[0-9a-f]{40,64}$/.test(commit),
  );
  return posts.length === 0 ? undefined : onlyForm({ app: project, posts });
}

/** The requests of the message. */
export function postsIn(payload: Fields): readonly CommitPost[] {
  return payload.posts as readonly CommitPost[];
}

function postsOf(
  kind: Announceable['kind'],
  field: (name: string) => string,
  duration: unknown,
): CommitPost[] {
  const [commit, version, deployId] = [field('commit'), field('version'), field('deploy_id')];
  const post = (state: CommitPost['state'], text: string): CommitPost => ({
    commit,
    state,
    deployId,
    isCorrection: false,
    description: cutCodePoints(text.replace(/\s+/g, ' ').trim(), DESCRIPTION_MAX),
  });
  switch (kind) {
    case 'DeployStarted':
      return [post('pending', `deploying ${version}`)];
    case 'DeploySuccess': {
      const took = durationText(duration);
      return [post('success', `deployed ${version}${took && ` in ${took}`}`)];
    }
    case 'DeployFailure': {
      const stage = field('stage');
      const cause = firstLine(field('cause')) || firstLine(field('error'));
      return [post('failure', `${stage && `${stage}: `}${cause || 'the deploy failed'}`)];
    }
    case 'RollbackSuccess': {
      const left = field('from_commit');
      const back = post('success', `${version} is active again`);
      if (left === '' || left === commit) return [back];
      const text = `rolled back to ${version}: ${field('reason')}`;
      return [{ ...post('failure', text), commit: left, isCorrection: true }, back];
    }
    default:
      return [];
  }
}

function firstLine(text: string): string {
  const lines = cleanText(text).split('\n');
  return lines.map((line) => line.trim()).find((line) => line !== '') ?? '';
}
