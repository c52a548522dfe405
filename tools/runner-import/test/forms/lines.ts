/** Formats of lines: Procfile, units of systemd, crontabs. */
import { type Form, formOf, many, type Part, picked, SECRET } from './form.ts';

const WEBS: readonly string[] = [
  'bundle exec puma -C config/puma.rb',
  'gunicorn config.wsgi:application --bind 0.0.0.0:$PORT --workers 3',
  'node --max-old-space-size=400 dist/index.js',
  'vendor/bin/heroku-php-nginx -C nginx.conf public/',
  'java $JAVA_OPTS -jar target/*.jar --server.port=$PORT',
  'python manage.py migrate --noinput && daphne -p $PORT app.asgi:application # all',
];

const PROCESSES: readonly Part[] = [
  ['worker: bundle exec sidekiq -C config/sidekiq.yml', { 'process.worker': 'start.run' }],
  ['release: bin/rails db:migrate', { 'process.release': 'hooks.pre_switch' }],
  ['beat: REMAP_SIGTERM=SIGQUIT celery -A config beat -l info', { 'process.beat': 'start.run' }],
  ['# one-off\nconsole: bin/rails console', { 'process.console': 'runner exec' }],
  ['clock: "bundle" exec clockwork clock.rb', { 'process.clock': 'start.run' }],
  [`bot: API_TOKEN=${SECRET} node bot.js`, { 'process.bot': '-' }],
];

export const PROCFILE: readonly Form[] = many(30, (number) =>
  formOf('procfile', 'Procfile', [
    [`web: ${WEBS[number % WEBS.length]}`, { 'process.web': 'start.run' }],
    ...picked(PROCESSES.slice(0, number % 6 === 5 ? 6 : 5), number, 0),
  ]),
);

const KEPT = 'start.unit';
const DROP_IN = '/etc/systemd/system/shop.service.d/runner.conf';

const UNIT: readonly Part[] = [
  ['[Unit]\nDescription=The shop', { 'Unit.Description': KEPT }],
  [
    'After=network-online.target postgresql.service\nWants=network-online.target',
    { 'Unit.After': KEPT, 'Unit.Wants': KEPT },
  ],
  ['# rate of restarts\nStartLimitIntervalSec=60', { 'Unit.StartLimitIntervalSec': KEPT }],
];
const SERVICE: readonly Part[] = [
  ['\n[Service]\nType=simple', { 'Service.Type': KEPT }],
  ['User=shop\nGroup=shop', { 'Service.User': KEPT, 'Service.Group': KEPT }],
  ['Environment=NODE_ENV=production', { 'Service.Environment.NODE_ENV': KEPT }],
  [
    'Environment="PORT=3000" LOG=info',
    { 'Service.Environment.PORT': KEPT, 'Service.Environment.LOG': KEPT },
  ],
  [
    `Environment='SESSION_SECRET=${SECRET}'`,
    { 'Service.Environment.SESSION_SECRET': 'runner env set shop SESSION_SECRET' },
  ],
  [
    'EnvironmentFile=-/srv/shop/.env',
    { 'Service.EnvironmentFile': 'runner env import shop --file /srv/shop/.env' },
  ],
  ['Restart=on-failure\nRestartSec=5', { 'Service.Restart': KEPT, 'Service.RestartSec': KEPT }],
  ['LimitNOFILE=65535', { 'Service.LimitNOFILE': KEPT }],
  [
    'StandardOutput=journal\nSyslogIdentifier=shop',
    { 'Service.StandardOutput': KEPT, 'Service.SyslogIdentifier': KEPT },
  ],
  [
    'NoNewPrivileges=true\nProtectSystem=full',
    { 'Service.NoNewPrivileges': KEPT, 'Service.ProtectSystem': KEPT },
  ],
  ['ExecReload=/bin/kill -s HUP $MAINPID', { 'Service.ExecReload': KEPT }],
  ['KillSignal=SIGINT', { 'Service.KillSignal': KEPT }],
];
const STARTS: readonly Part[] = [
  [
    'WorkingDirectory=/srv/shop\nExecStart=/usr/bin/node server.js',
    { 'Service.WorkingDirectory': DROP_IN, 'Service.ExecStart': KEPT },
  ],
  [
    'WorkingDirectory=/srv/shop\nExecStart=/srv/shop/.venv/bin/gunicorn \\\n  --workers 3 \\\n  app:app',
    { 'Service.WorkingDirectory': DROP_IN, 'Service.ExecStart': DROP_IN },
  ],
  ['ExecStart=/usr/bin/env bundle exec puma', { 'Service.ExecStart': KEPT }],
];
const INSTALL: Part = ['\n[Install]\nWantedBy=multi-user.target', { 'Install.WantedBy': KEPT }];

export const UNITS: readonly Form[] = many(20, (number) =>
  formOf('unit', 'shop.service', [
    ...picked(UNIT, number),
    ...picked(SERVICE, number),
    STARTS[number % 3] as Part,
    INSTALL,
  ]),
);

const JOBS: readonly string[] = [
  '*/5 * * * * cd /srv/shop/current && bin/rake jobs:run >> /var/log/shop.log 2>&1',
  '0 3 * * 1-5 /usr/bin/node scripts/report.js',
  '@daily bin/rails runner "Report.send_all"',
  '15,45 8-18/2 1 jan,jul sun flock -n /tmp/lock php artisan schedule:run > /dev/null',
  '30 4 * * 0 pg_dump shop | gzip > /backup/shop-$(date +\\%F).sql.gz',
];

/** Each key is `job`, so the truth is by line. */
export const CRONTABS: readonly Form[] = many(10, (number) => {
  const jobs = picked(JOBS, number).concat(number % 5 === 4 ? ['@reboot node server.js'] : []);
  const parts: readonly Part[] = [
    ['# m h dom mon dow command\nMAILTO=ops@example.org', { 'env.MAILTO': '-' }],
    [`API_TOKEN=${SECRET}`, { 'env.API_TOKEN': 'runner env set app API_TOKEN' }],
    ...jobs.map(
      (job): Part => [job, { [`job ${job}`]: job.startsWith('@reboot') ? '-' : 'jobs.' }],
    ),
  ];
  return formOf('crontab', 'crontab', parts);
});
