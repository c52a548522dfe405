import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { codeHostOf, type HostType } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { Failure, usage } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import { harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';
import { bellOf, DIR, folderOf, SIGNERS, type Signer, writeBell } from '../folder.ts';
import { HEADERS, SIGNING_TOKEN } from '../signature.ts';

/** The secret is shown only this once. */
interface AddedBell {
  app: string;
  repo: string;
  /** How calls are signed. */
  host: Signer;
  /** Of the app's code host. */
  type: HostType;
  address: string;
  header: string;
  secret: string;
}

export const add = command({
  name: 'add',
  about: 'Create the secret of an app, and show what to set on the code host',
  details: 'Prints the secret once: paste it into the settings of the repository.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    host: {
      placeholder: 'TYPE',
      choices: SIGNERS,
      about: "Type of the calling host [default: the app's]",
    },
    url: {
      placeholder: 'URL',
      about:
        "Address under which the host reaches the bell [default: this server's name, port 9190]",
    },
    dir: DIR,
  },
  examples: ['sudo runner bell add shop --url https://deploy.example.com/bell'],
  async run({ io, paths, args, options }) {
    const { app, repo, host } = requireApp(paths, args.app);
    const { url } = options;
    if (url !== undefined && !/^https?:\/\/[^\s/]+[^\s]*$/.test(url))
      throw usage(
        "invalid value for '--url <URL>': it must be https://HOST/PATH or http://HOST:PORT",
      );
    const folder = folderOf(options.dir, io.env);
    if (bellOf(folder, app))
      throw new Failure(
        'app_exists',
        `'${app}' has a bell already: run runner bell remove ${app} first to create a new secret`,
      );
    const { type } = codeHostOf(readConfig(paths), io.env, host);
    const signer = (options.host as Signer | undefined) ?? (type === 'git' ? HOOK_SIGNER : type);
    const secret = newSecret(signer);
    writeBell(folder, app, {
      type: signer,
      secret: new Secret(secret),
      added: io.now().toISOString(),
    });
    const base = (options.url ?? `http://${hostname()}:9190`).replace(/\/+$/, '');
    const value: AddedBell = {
      app,
      repo,
      host: signer,
      type,
      address: `${base}/${app}`,
      header: HEADERS[signer],
      secret,
    };
    return { value };
  },
  human({ app, repo, host, type, address, header, secret }: AddedBell, style) {
    const isHook = type === 'git' && host === HOOK_SIGNER;
    const { where, fields } = isHook ? hookFor(address, `${header}: ${secret}`) : SETTINGS[host];
    const lines = [['Address', address], ['Secret', secret], ...fields].map(
      ([label, value]) => `  ${`${label}:`.padEnd(14)}${harmlessLine(value as string)}\n`,
    );
    return `${style.bold(harmlessLine(app))} has a bell. In ${harmlessLine(repo)}: ${where}\n${lines.join('')}The secret is not shown again.\n`;
  },
});

/** GitLab's can be pasted as secret token or as signing token. */
const newSecret = (type: Signer) =>
  type === 'gitlab'
    ? SIGNING_TOKEN + randomBytes(32).toString('base64')
    : randomBytes(32).toString('base64url');

/** A plain git server makes no calls, but a hook can send GitLab's header. */
const HOOK_SIGNER = 'gitlab';

/** The hook reads the header from a file: other users can see what is on its command line. */
const hookFor = (address: string, header: string) => ({
  where:
    "hooks/post-receive on the git server, and a file next to it that only the hook's user can read",
  fields: [
    ['post-receive', `exec curl -fsS --max-time 10 -X POST -H @hooks/ring.header ${word(address)}`],
    ['ring.header', header],
  ],
});

/** Where to find the settings. */
const SETTINGS: Readonly<Record<Signer, { where: string; fields: string[][] }>> = {
  github: {
    where: 'Settings > Webhooks > Add webhook',
    fields: [
      ['Content type', 'application/json'],
      ['Events', 'Just the push event'],
    ],
  },
  gitlab: {
    where: 'Settings > Webhooks > Add new webhook (Signing token or Secret token)',
    fields: [['Trigger', 'Push events, Tag push events']],
  },
  gitea: {
    where: 'Settings > Webhooks > Add Webhook > Gitea or Forgejo',
    fields: [
      ['Method', 'POST'],
      ['Content type', 'application/json'],
      ['Trigger', 'Push Events'],
    ],
  },
  bitbucket: {
    where: 'Repository settings > Webhooks > Add webhook',
    fields: [['Triggers', 'Repository push']],
  },
};
