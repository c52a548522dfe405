/** Any text ends in an answer or a sentence, soon, and never prints what controls a terminal. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FormatName } from '../src/formats/all.ts';
import { SECRET } from './forms/form.ts';
import { imported } from './hostile.ts';

test('a secret in any place of a value is not printed', async () => {
  const holders: readonly [FormatName, string, string][] = [
    [
      'procfile',
      'Procfile',
      `web: node x --token ${SECRET}\nworker: A_KEY=${SECRET} x\nrelease: curl https://u:${SECRET}@h/\n`,
    ],
    [
      'pm2',
      'e.js',
      `module.exports = { apps: [{ name: 'x', args: '-p${SECRET} --api-key=${SECRET}', env_production: { A_TOKEN: '${SECRET}' } }], deploy: { production: { repo: 'https://${SECRET}@github.com/a/b', 'post-deploy': 'PASSWORD=${SECRET} npm ci', env: { DB_PASS: '${SECRET}' } } } }`,
    ],
    [
      'kamal',
      'd.yml',
      `service: x\nregistry:\n  password: ${SECRET}\nenv:\n  A_SECRET: ${SECRET}\naccessories:\n  db:\n    image: x\n    cmd: x --password=${SECRET}\n    env:\n      PGPASSWORD: ${SECRET}\n`,
    ],
    [
      'capistrano',
      'd.rb',
      `set :application, 'x'\nset :default_env, { 'API_TOKEN' => '${SECRET}' }\nset :repo_url, 'https://x:${SECRET}@h.org/a.git'\nset :git_http_password, '${SECRET}'\n`,
    ],
    [
      'compose',
      'c.yml',
      `services:\n  web:\n    image: x\n    environment: [A_KEY=${SECRET}]\n    command: x --secret=${SECRET}\n`,
    ],
    [
      'unit',
      'x.service',
      `[Service]\nWorkingDirectory=/srv/x\nExecStart=/srv/x/a --api-key=${SECRET}\nEnvironment=A_KEY=${SECRET}\n`,
    ],
    [
      'crontab',
      'cron',
      `TOKEN=${SECRET}\n* * * * * curl -H "Authorization: Bearer ${SECRET}" x\n@daily mysqldump -u root -p${SECRET} shop\n@daily x --password ${SECRET}\n@daily A_KEY=${SECRET} x\n@daily x\n`,
    ],
    [
      'whenever',
      'schedule.rb',
      `env :A_TOKEN, '${SECRET}'\njob_type :x, 'PASSWORD=${SECRET} :task'\nset :y, '${SECRET}'\nevery :day, at: '${SECRET}' do\n  command "x --password ${SECRET}"\n  x "y"\n  rake "y", key: '${SECRET}'\nend\nevery :hour do\n  x "y"\n  command "curl -u me:${SECRET} h"\nend\n`,
    ],
  ];
  for (const [format, file, text] of holders) {
    const answer = await imported(format, text, file);
    assert.ok(answer, format);
    assert.not.ok(JSON.stringify(answer).includes(SECRET), JSON.stringify(answer, null, 1));
  }
});

test.run();
