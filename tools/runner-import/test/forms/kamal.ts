/** config/deploy.yml of Kamal 1 and 2. */
import { type Form, formOf, many, type Part, picked, SECRET } from './form.ts';

const SSH = 'not needed';
const BUILT = 'build.run';

const SERVERS: readonly Part[] = [
  ['servers:\n  - 192.0.2.1', { 'servers[0]': SSH }],
  ['servers:\n  web:\n    - 192.0.2.1', { 'servers.web[0]': SSH }],
  [
    'servers:\n  web:\n    hosts:\n      - 192.0.2.1\n    options:\n      memory: 1g\n  job:\n    hosts: [192.0.2.1]\n    cmd: bin/jobs',
    {
      'servers.web.hosts[0]': SSH,
      'servers.web.options.memory': 'compose.yaml',
      'servers.job.hosts[0]': SSH,
      'servers.job.cmd': 'compose.yaml',
    },
  ],
  [
    'servers:\n  web:\n    - 192.0.2.1\n    - 192.0.2.2',
    { 'servers.web[0]': SSH, 'servers.web[1]': '-' },
  ],
];

const PARTS: readonly Part[] = [
  ['# Name of your application.\nservice: shop', { service: 'runner add' }],
  ['image: acme/shop', { image: 'compose.yaml' }],
  [
    'proxy:\n  ssl: true\n  host: shop.example.org\n  app_port: 3000\n  healthcheck:\n    interval: 3\n    path: /health\n    timeout: 3',
    {
      'proxy.ssl': 'sudo runner setup shop',
      'proxy.host': 'instances.default.domain',
      'proxy.app_port': 'compose.yaml',
      'proxy.healthcheck.interval': 'health.interval',
      'proxy.healthcheck.path': 'health.url',
      'proxy.healthcheck.timeout': 'health.timeout',
    },
  ],
  [
    'registry:\n  server: ghcr.io\n  username: acme\n  # from .kamal/secrets\n  password:\n    - KAMAL_REGISTRY_PASSWORD',
    { 'registry.server': BUILT, 'registry.username': BUILT, 'registry.password[0]': BUILT },
  ],
  [
    'builder:\n  arch: amd64\n  args:\n    RUBY_VERSION: 3.3.0\n  secrets:\n    - GITHUB_PAT',
    {
      'builder.arch': BUILT,
      'builder.args.RUBY_VERSION': 'compose.yaml',
      'builder.secrets[0]': 'build.env',
    },
  ],
  [
    `env:\n  clear:\n    DB_HOST: 192.0.2.3\n    PORT: 3000\n    SOLID_QUEUE_IN_PUMA: true\n    SMTP_PASSWORD: ${SECRET}\n  secret:\n    - RAILS_MASTER_KEY\n    - DB_PASSWORD:MAIN_DB_PASSWORD`,
    {
      'env.clear.DB_HOST': 'instances.default.env.DB_HOST',
      'env.clear.PORT': 'compose.yaml',
      'env.clear.SOLID_QUEUE_IN_PUMA': 'instances.default.env.SOLID_QUEUE_IN_PUMA',
      'env.clear.SMTP_PASSWORD': 'runner env set shop SMTP_PASSWORD',
      'env.secret[0]': 'runner env set shop RAILS_MASTER_KEY',
      'env.secret[1]': 'runner env set shop DB_PASSWORD',
    },
  ],
  ['ssh:\n  user: deploy\n  port: 2222', { 'ssh.user': SSH, 'ssh.port': SSH }],
  ['volumes:\n  - "shop_storage:/rails/storage"', { 'volumes[0]': 'compose.yaml' }],
  ['asset_path: /rails/public/assets', { asset_path: '-' }],
  [
    'aliases:\n  console: app exec --interactive --reuse "bin/rails console"\n  logs: app logs -f',
    {
      'aliases.console': '-',
      'aliases.logs': 'runner logs shop -f',
    },
  ],
  ['retain_containers: 3', { retain_containers: 'keep' }],
  ['deploy_timeout: 60', { deploy_timeout: 'start.timeout' }],
  ['drain_timeout: 20', { drain_timeout: 'traffic.drain' }],
  [
    'accessories:\n  db:\n    image: postgres:16\n    host: 192.0.2.1\n    port: "127.0.0.1:5432:5432"\n    env:\n      clear:\n        POSTGRES_USER: shop\n      secret:\n        - POSTGRES_PASSWORD\n    directories:\n      - data:/var/lib/postgresql/data\n  redis:\n    image: redis:7.0\n    roles:\n      - web\n    port: 6379\n    cmd: redis-server --appendonly yes\n    directories:\n      - data:/data',
    {
      'accessories.db.image': 'accessories.yaml',
      'accessories.db.host': SSH,
      'accessories.db.port': 'accessories.yaml',
      'accessories.db.env.clear.POSTGRES_USER': 'accessories.yaml',
      'accessories.db.env.secret[0]': 'runner env set shop POSTGRES_PASSWORD',
      'accessories.db.directories[0]': 'accessories.yaml',
      'accessories.redis.image': 'accessories.yaml',
      'accessories.redis.roles[0]': SSH,
      'accessories.redis.port': 'accessories.yaml',
      'accessories.redis.cmd': 'accessories.yaml',
      'accessories.redis.directories[0]': 'accessories.yaml',
    },
  ],
  ['minimum_version: 2.3.0', { minimum_version: SSH }],
  ['labels:\n  traefik.enable: true', { 'labels.traefik.enable': '-' }],
];

export const KAMAL: readonly Form[] = many(36, (number) =>
  formOf('kamal', 'config/deploy.yml', [
    ...picked(PARTS, number, 2),
    SERVERS[number % 8 === 7 ? 3 : number % 3] as Part,
  ]),
);
