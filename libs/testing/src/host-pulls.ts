/**
 * Pull requests of the stand-ins for code hosts, as their published descriptions say: lists in pages, events
 * of labels with the host's own clock in whole seconds, comments, deployments and environments.
 */
import type { ApiAnswer, ApiCall, ApiType, FakePull, PullHost } from './host-api-types.ts';

export function pullHost(): PullHost {
  const pulls = new Map<number, FakePull>();
  const own: PullHost = {
    pulls,
    comments: [],
    deployments: [],
    writers: new Set(['ada', '1']),
    perPage: 100,
    clock: Date.now(),
    open({ number, branch, commit, isFork = false }) {
      const at = now(own);
      const about = { isOpen: true, labels: [], created: at, updated: at, events: [] };
      const pull: FakePull = { number, branch, commit, isFork, ...about };
      pulls.set(number, pull);
      return pull;
    },
    push(number, commit, isForced = false) {
      change(number, (pull) => {
        pull.commit = commit;
        const kind = isForced ? 'forced' : 'pushed';
        pull.events.push({ kind, at: now(own), by: 'mallory', label: '', commit });
      });
    },
    label(number, label, by, isOn = true) {
      change(number, (pull) => {
        pull.labels = pull.labels.filter((each) => each !== label);
        if (isOn) pull.labels.push(label);
        const kind = isOn ? 'labeled' : 'unlabeled';
        pull.events.push({ kind, at: now(own), by, label, commit: pull.commit });
      });
    },
    set: (number, isOpen) =>
      change(number, (pull) => {
        pull.isOpen = isOpen;
      }),
  };
  const change = (number: number, edit: (pull: FakePull) => void) => {
    const pull = pulls.get(number);
    if (!pull) throw new Error(`no pull request ${number}`);
    edit(pull);
    pull.updated = now(own);
  };
  return own;
}

const now = ({ clock }: PullHost) => `${new Date(clock).toISOString().slice(0, 19)}Z`;

/** One page of a list, and where it goes on. */
function paged(call: ApiCall, all: readonly unknown[]): ApiAnswer {
  const { host, query, path } = call;
  const wanted = Number(query.get('per_page') ?? query.get('limit') ?? query.get('pagelen') ?? 30);
  const size = Math.min(wanted, host.pulls.perPage);
  const page = Number(query.get('page') ?? 1);
  const entries = all.slice((page - 1) * size, page * size);
  const rest = new URLSearchParams(query);
  rest.set('page', String(page + 1));
  const next = `${host.apiUrl}${path}?${rest}`;
  const hasNext = page * size < all.length;
  const date = { date: new Date(host.pulls.clock).toUTCString() };
  if (host.type === 'bitbucket')
    return [200, { pagelen: size, values: entries, ...(hasNext && { next }) }, date];
  const total = { [host.type === 'gitlab' ? 'x-total' : 'x-total-count']: String(all.length) };
  const link = hasNext ? { link: `<${next}>; rel="next"` } : {};
  return [200, entries, { ...date, ...link, ...(host.type !== 'github' && total) }];
}

function pullOf(type: ApiType, repo: string, pull: FakePull): object {
  const { number, branch, commit, isFork, created, updated, labels, isOpen } = pull;
  const names = labels.map((name) => ({ name }));
  const times = { created_at: created, updated_at: updated };
  if (type === 'gitlab') {
    const source = { source_branch: branch, source_project_id: isFork ? 2 : 1 };
    const about = { iid: number, state: isOpen ? 'opened' : 'closed', sha: commit };
    return { ...about, ...source, target_project_id: 1, labels, ...times };
  }
  if (type === 'bitbucket') {
    const at = (full_name: string) => ({
      branch: { name: branch },
      commit: { hash: commit.slice(0, 12) },
      repository: { full_name },
    });
    const about = { id: number, state: isOpen ? 'OPEN' : 'DECLINED' };
    const source = at(isFork ? 'mallory/shop' : repo);
    return { ...about, source, destination: at(repo), created_on: created, updated_on: updated };
  }
  const head = { ref: branch, sha: commit, repo: { id: isFork ? 2 : 1 } };
  const base = { ref: 'main', repo: { id: 1 } };
  return { number, state: isOpen ? 'open' : 'closed', head, base, labels: names, ...times };
}

function eventsOf(type: ApiType, { events }: FakePull): object[] {
  if (type === 'gitea')
    return events.flatMap(({ kind, at, by, label, commit }): object[] =>
      /labeled/.test(kind)
        ? [
            {
              type: 'label',
              label: { name: label },
              body: kind === 'labeled' ? '1' : '',
              user: { login: by },
              created_at: at,
            },
          ]
        : [
            {
              type: 'pull_push',
              body: JSON.stringify({ is_force_push: kind === 'forced', commit_ids: [commit] }),
              created_at: at,
            },
          ],
    );
  return events.flatMap(({ kind, at, by, label }): object[] => {
    if (kind === 'pushed') return [];
    if (kind === 'forced')
      return [{ event: 'head_ref_force_pushed', actor: { login: by }, created_at: at }];
    return [{ event: kind, actor: { login: by }, label: { name: label }, created_at: at }];
  });
}

/** The answer about pull requests; undefined if the path is about something else. */
export function pullAnswer(call: ApiCall): ApiAnswer | undefined {
  const { host, path, method, query, body, token } = call;
  const { type, pulls: known } = host;
  const base =
    /^(\/repos\/[^/]+\/[^/]+|\/repositories\/[^/]+\/[^/]+|\/projects\/[^/]+)\/(.+)$/.exec(path);
  const [, place = '', rest = ''] = base ?? [];
  if (!token || known.pulls.size === 0) return undefined;
  const repo = decodeURIComponent(place.split('/').slice(2).join('/'));
  const numbers = /^(?:pulls|pullrequests|merge_requests|issues)(?:\/(\d+))?(?:\/(.+))?$/.exec(
    rest,
  );
  if (numbers) {
    const [, number, what = ''] = numbers;
    if (number === undefined && what === '') {
      const open = [...known.pulls.values()].filter(({ isOpen }) => isOpen);
      return paged(
        call,
        open.map((pull) => pullOf(type, repo, pull)),
      );
    }
    const edited =
      /^comments\/(\d+)$/.exec(number === undefined ? rest.slice('issues/'.length) : what) ??
      /^notes\/(\d+)$/.exec(what);
    if (edited && method !== 'GET') return editComment(call, Number(edited[1]));
    const pull = known.pulls.get(Number(number));
    if (!pull) return [404, { message: 'Not Found' }];
    if (what === '') return [200, pullOf(type, repo, pull)];
    if (what === 'comments' || what === 'notes') return commentsOf(call, pull.number);
    if (what === 'events') return paged(call, eventsOf(type, pull));
    if (what === 'timeline') {
      // Without a link to the next page; the total is that of the page, and no entry is null.
      const [status, page, { date = '' } = {}] = paged(call, eventsOf(type, pull));
      const { length } = page as unknown[];
      return [status, length === 0 ? null : page, { date, 'x-total-count': String(length) }];
    }
    if (what === 'versions') {
      const pushes = pull.events.filter(({ kind }) => /pushed|forced/.test(kind));
      const all = [
        { head_commit_sha: pushes[0] ? '' : pull.commit, created_at: pull.created },
        ...pushes.map(({ commit, at }) => ({ head_commit_sha: commit, created_at: at })),
      ];
      return paged(call, all.reverse());
    }
    if (what === 'resource_label_events') {
      const all = pull.events.filter(({ kind }) => /labeled/.test(kind));
      return paged(
        call,
        all.map(({ kind, at, by, label }) => ({
          action: kind === 'labeled' ? 'add' : 'remove',
          created_at: at,
          label: { name: label },
          user: { id: Number(by) },
        })),
      );
    }
  }
  const asked = /^(?:collaborators\/([^/]+)\/permission|members\/all\/(.+))$/.exec(rest);
  if (asked) {
    const isWriter = known.writers.has(decodeURIComponent(asked[1] ?? asked[2] ?? ''));
    if (type === 'gitlab')
      return isWriter ? [200, { access_level: 30, state: 'active' }] : [404, {}];
    return [200, { permission: isWriter ? 'write' : 'read' }];
  }
  if (
    rest === 'deployments' &&
    method === 'GET' &&
    query.get('environment') !== null &&
    !query.has('sha')
  ) {
    const all = known.deployments.filter(
      ({ environment }) => environment === query.get('environment'),
    );
    return [200, all.map(({ id, ref }) => ({ id, ref, sha: ref })).reverse()];
  }
  if (type === 'github' && rest === 'deployments' && method === 'POST') {
    const id = known.deployments.length + 1;
    known.deployments.push({
      id,
      environment: String(body.environment),
      ref: String(body.ref),
      state: 'pending',
    });
    return [201, { id }];
  }
  return environments(call, rest);
}

function environments(
  { host: { pulls: known }, method, query, body }: ApiCall,
  rest: string,
): ApiAnswer | undefined {
  const status = /^deployments\/(\d+)\/statuses$/.exec(rest);
  const made = known.deployments[Number(status?.[1]) - 1];
  if (status && made && method === 'GET') return [200, [{ id: 1, state: made.state }]];
  if (status && made) {
    made.state = String(body.state);
    return [201, { id: 1, state: made.state }];
  }
  const stopped = /^environments\/(\d+)(\/stop)?$/.exec(rest);
  const one = known.deployments[Number(stopped?.[1]) - 1];
  if (stopped && one) {
    if (stopped[2]) one.state = 'inactive';
    return [200, { id: one.id }];
  }
  if (rest === 'environments' && method === 'GET')
    return [
      200,
      known.deployments
        .filter(({ environment }) => environment === query.get('name'))
        .map(({ id, environment: name }) => ({ id, name })),
    ];
  if (rest === 'environments' && method === 'POST') {
    const id = known.deployments.length + 1;
    known.deployments.push({ id, environment: String(body.name), ref: '', state: 'available' });
    return [201, { id }];
  }
  if (rest !== 'deployments' || method !== 'POST') return undefined;
  const of = known.deployments.find(({ environment }) => environment === body.environment);
  if (of) of.state = String(body.status);
  return [201, { id: 1 }];
}

const textIn = ({ body, content }: Record<string, unknown>) =>
  String(body ?? (content as { raw?: string } | undefined)?.raw ?? '');

function commentsOf(call: ApiCall, number: number): ApiAnswer {
  const { host, method, body } = call;
  const { comments } = host.pulls;
  if (method === 'POST') {
    const id = comments.length + 1;
    comments.push({ id, number, text: textIn(body), edits: 0 });
    return [201, { id }];
  }
  const own = comments.filter((each) => each.number === number);
  return paged(
    call,
    own.map(({ id, text }) => ({ id, body: text, content: { raw: text } })),
  );
}

function editComment({ host, body }: ApiCall, id: number): ApiAnswer {
  const comment = host.pulls.comments.find((each) => each.id === id);
  if (!comment) return [404, {}];
  comment.text = textIn(body);
  comment.edits += 1;
  return [200, { id }];
}
