/** When the certificate of a domain ends, as its visitors see it, and when that is announced. */
import type { AppState, Certificate } from '@runner/common/apps/state';
import { findApp, writeApp } from '@runner/common/apps/store';
import { onFailure, unlessFailure } from '@runner/common/foundation/attempt';
import { activeFile } from '../instances/target.ts';
import { type Announcing, type AppChange, announcingChange } from './announce.ts';
import { DAY, endingAt } from './ending.ts';

/** Days before the end of a certificate at which it is announced. */
const STAGES = [0, 1, 7, 21];
/** For the whole handshake, in milliseconds. */
const PATIENCE = 3_000;
const HTTPS = 443;

/** The domain of an instance, and when its certificate ends; null: it has none of its own. */
type DomainEnd = readonly [domain: string, ends: string | null];

/** Looks at each domain of these apps once a day, and announces ends that come near. Never throws a Failure. */
export async function checkCertificates(
  announcing: Announcing,
  names: readonly string[],
  port = HTTPS,
): Promise<void> {
  const { io, paths, reporter } = announcing;
  const now = io.now();
  const looks = names.map(async (name) => {
    const app = unlessFailure(() => findApp(paths, name), undefined);
    const domains = app ? domainsOf(announcing, app).filter((each) => isDue(app, each, now)) : [];
    const ask = async (domain: string): Promise<DomainEnd> => [domain, await endOf(domain, port)];
    return { name, seen: await Promise.all(domains.map(ask)) };
  });
  const found = (await Promise.all(looks)).filter(({ seen }) => seen.length > 0);
  if (found.length === 0) return;
  const unnoted = onFailure(() => reporter.note('the ends of certificates could not be noted'));
  await announcingChange(announcing, 'fetch', (announce) => {
    for (const { name, seen } of found) {
      const app = findApp(paths, name);
      if (app) for (const change of noted(announcing, app, seen)) announce(change);
    }
  }).catch(unnoted);
}

function domainsOf({ paths }: Announcing, app: AppState): string[] {
  const file = unlessFailure(() => activeFile(paths, app), undefined);
  return [...new Set((file?.instances ?? []).flatMap(({ domain }) => domain ?? []))];
}

function isDue({ certificates }: AppState, domain: string, now: Date): boolean {
  const passed = now.getTime() - (Date.parse(certificates?.[domain]?.at ?? '') || 0);
  return passed < 0 || passed >= DAY;
}

/** What is to be announced; then writes what was seen to the state, under the registry's lock. */
function* noted(
  announcing: Announcing,
  app: AppState,
  seen: readonly DomainEnd[],
): Generator<AppChange> {
  const now = announcing.io.now();
  const known = app.certificates ?? {};
  const fresh: [string, Certificate][] = [];
  for (const [domain, ends] of seen) {
    const before = known[domain];
    const ending = ends === null ? undefined : endingAt(ends, now, STAGES);
    const was = before?.ends ?? before?.was;
    const isNews = was !== ends || (ending && ending.days < (before?.told ?? Infinity));
    if (ends !== null && ending && isNews) {
      const reason = `the certificate of ${domain} ${ending.words}: renew it, and reload what serves it`;
      const change = { event_type: 'CertEnding', domain, reason, expires_at: ends } as const;
      yield { app, change };
    }
    const said = ends === null ? { was, told: before?.told } : { told: ending?.days };
    fresh.push([domain, { ends, at: now.toISOString(), ...said }]);
  }
  // A domain that no instance has any more is forgotten.
  const own = new Set(domainsOf(announcing, app));
  const kept = Object.entries(known).filter(([domain]) => own.has(domain));
  writeApp(announcing.paths, { ...app, certificates: Object.fromEntries([...kept, ...fresh]) });
}

/** The end of the domain's certificate; null if it is not reached, or is served that of another name. */
function endOf(domain: string, port: number): Promise<string | null> {
  const { checkServerIdentity, connect } = process.getBuiltinModule('node:tls');
  return new Promise((resolve) => {
    // Only its dates count: an expired one is worth an alarm, too.
    const asked = { host: domain, servername: domain, port, rejectUnauthorized: false };
    const socket = connect(asked, () => {
      const certificate = socket.getPeerCertificate();
      const time = Date.parse(certificate.valid_to);
      const isOwn = !Number.isNaN(time) && !checkServerIdentity(domain, certificate);
      end(isOwn ? new Date(time).toISOString() : null);
    });
    const timer = setTimeout(() => end(null), PATIENCE);
    const end = (ends: string | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(ends);
    };
    socket.on('error', () => end(null));
  });
}
