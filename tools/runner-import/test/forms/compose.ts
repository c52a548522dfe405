/** compose.yml, with and without the key version. */
import { type Form, formOf, many, type Part, picked, SECRET } from './form.ts';

const KEPT = 'start.file';

const WEB: readonly Part[] = [
  ['services:\n  web:\n    image: acme/shop:latest', { 'services.web.image': KEPT }],
  ['    build: .', { 'services.web.build': KEPT }],
  ['    restart: unless-stopped', { 'services.web.restart': KEPT }],
  ['    ports:\n      - "8080:80"', { 'services.web.ports[0]': KEPT }],
  [
    '    command: ["node", "server.js"]',
    { 'services.web.command[0]': KEPT, 'services.web.command[1]': KEPT },
  ],
  [
    `    environment:\n      NODE_ENV: production\n      DATABASE_URL: postgres://shop:${SECRET}@db/shop\n      TOKEN: \${TOKEN}`,
    {
      'services.web.environment.NODE_ENV': KEPT,
      'services.web.environment.DATABASE_URL': 'runner env set shop DATABASE_URL',
      'services.web.environment.TOKEN': KEPT,
    },
  ],
  ['    env_file: .env', { 'services.web.env_file': 'shared' }],
  [
    '    volumes:\n      - ./uploads:/app/uploads\n      - ./nginx.conf:/etc/nginx/nginx.conf:ro',
    { 'services.web.volumes[0]': 'shared', 'services.web.volumes[1]': KEPT },
  ],
  ['    container_name: shop', { 'services.web.container_name': '-' }],
  [
    '    depends_on:\n      db:\n        condition: service_healthy',
    { 'services.web.depends_on.db.condition': KEPT },
  ],
  [
    '    healthcheck:\n      test: ["CMD", "curl", "-f", "http://localhost/"]\n      interval: 10s\n      retries: 3',
    {
      'services.web.healthcheck.test[0]': KEPT,
      'services.web.healthcheck.test[1]': KEPT,
      'services.web.healthcheck.test[2]': KEPT,
      'services.web.healthcheck.test[3]': KEPT,
      'services.web.healthcheck.interval': KEPT,
      'services.web.healthcheck.retries': KEPT,
    },
  ],
  ['    networks: [front]', { 'services.web.networks[0]': KEPT }],
  ['    labels:\n      - "traefik.enable=true"', { 'services.web.labels[0]': KEPT }],
  [
    '    deploy:\n      resources:\n        limits:\n          memory: 512M',
    { 'services.web.deploy.resources.limits.memory': KEPT },
  ],
];

const REST: readonly Part[] = [
  [
    `  db:\n    image: postgres:16-alpine\n    environment:\n      - POSTGRES_USER=shop\n      - POSTGRES_PASSWORD=${SECRET}`,
    {
      'services.db.image': KEPT,
      'services.db.environment[0]': KEPT,
      'services.db.environment[1]': 'runner env set shop POSTGRES_PASSWORD',
    },
  ],
  ['volumes:\n  data:', { 'volumes.data': '-' }],
  ['networks:\n  front:\n    driver: bridge', { 'networks.front.driver': KEPT }],
];

const HEADS: readonly Part[] = [
  ["version: '3.8'", { version: KEPT }],
  ['# the shop', {}],
  ['name: shop', { name: '-' }],
  ['x-logging: &logging\n  driver: json-file', { 'x-logging.driver': KEPT }],
];

export const COMPOSE: readonly Form[] = many(32, (number) =>
  formOf('compose', ['docker-compose.yml', 'compose.yaml'][number % 2] as string, [
    HEADS[number % 4] as Part,
    ...picked(WEB, number),
    ...picked(REST, number),
  ]),
);
