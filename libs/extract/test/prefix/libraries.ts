/**
 * Prefixes written from the documentation of their tools before the stage existed. Failures of .NET's
 * console, of NLog and of SSHKit have been looked at since.
 */
import {
  clock,
  day,
  guessed,
  iso,
  millis,
  month,
  type Prefixing,
  slashed,
  syslogTime,
  two,
} from './prefixing.ts';

const json = JSON.stringify;
const REQUEST = '7b1c0a52-8a6e-4f0e-9f0e-6f2a1d9c3b47';

function halfDay(time: Date): string {
  const hour = time.getUTCHours();
  return `${hour % 12 === 0 ? 12 : hour % 12}${clock(time).slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
}

export const LIBRARIES: Readonly<Record<string, Prefixing>> = {
  'journald short-monotonic': (text, { n }) =>
    `[${(61234.5 + n * 0.137).toFixed(6).padStart(12)}] srv1 shop[4711]: ${text}`,
  'kubectl logs --prefix': (text) => `[pod/web-5f7c9d8b6-x2x7k/app] ${text}`,
  stern: (text) => `web-5f7c9d8b6-x2x7k app ${text}`,
  'docker service logs': (text) => `shop_web.1.k3v9a1c7d2fq@node1    | ${text}`,
  'docker buildx': (text, { n }) => `#12 ${(1.2 + n * 0.137).toFixed(3)} ${text}`,
  bamboo: (text, { time }) =>
    `build\t${two(time.getUTCDate())}-${month(time)}-2024 ${clock(time)}\t${text}`,
  teamcity: (text, { time }) => `[${clock(time)} ] :\t [Step 1/3] ${text}`,
  'AWS CodeBuild': (text, { time }) => `[Container] ${slashed(time)}.${millis(time)}456 ${text}`,
  'Google Cloud Build': (text) => `Step #1 - "build": ${text}`,
  appveyor: (text, { time }) => `[00:${clock(time).slice(3)}] ${text}`,
  netlify: (text, { time }) => `${halfDay(time)}: ${text}`,
  render: (text, { time }) => `${syslogTime(time).slice(0, 7)}${halfDay(time)}  ${text}`,
  'azure app service': (text, { time }) => `${iso(time)}.${millis(time)}4567Z  - ${text}`,
  'ansible log': (text, { time }) =>
    `${day(time)},${millis(time)} p=4711 u=deploy n=ansible INFO| ${text}`,
  lerna: (text) => `@m/api: ${text}`,
  'pnpm -r': (text) => `packages/api build: ${text}`,
  'yarn workspaces': (text) => `[@m/api]: ${text}`,
  sshkit: (text) => ` DEBUG [3f9a1c7d] \t${text}`,
  tekton: (text) => `[build : compile] ${text}`,
  logback: (text, { time }) =>
    `${clock(time)}.${millis(time)} [main] INFO  com.shop.Relay -- ${text}`,
  loguru: (text, { time }) =>
    `${day(time)}.${millis(time)} | INFO     | shop.app:relay:42 - ${text}`,
  celery: (text, { time }) => `[${day(time)},${millis(time)}: INFO/MainProcess] ${text}`,
  'python basicConfig': (text) => `INFO:shop.app:${text}`,
  uvicorn: (text) => `INFO:     ${text}`,
  bunyan: (text, { time }) =>
    json({
      name: 'shop',
      hostname: 'srv1',
      pid: 4711,
      level: guessed(text) === 'error' ? 50 : 30,
      msg: text,
      time: `${iso(time)}.${millis(time)}Z`,
      v: 0,
    }),
  'zap console': (text, { time }) =>
    `${iso(time)}.${millis(time)}Z\tINFO\trelay/main.go:42\t${text}`,
  'zerolog console': (text, { time }) => `${halfDay(time).replace(/:\d\d /, '')} INF ${text}`,
  'slog text': (text, { time }) =>
    `time=${iso(time)}.${millis(time)}Z level=INFO msg=${/[\s"=]/.test(text) || text === '' ? json(text) : text}`,
  'serilog compact json': (text, { time }) =>
    json({ '@t': `${iso(time)}.${millis(time)}4567Z`, '@m': text, '@i': 'a1b2c3d4' }),
  nlog: (text, { time }) => `${day(time)}.${millis(time)}4|INFO|Shop.Relay|${text}`,
  'rails tagged': (text) => `[${REQUEST}] [203.0.113.9] ${text}`,
  'elastic common schema': (text, { time }) =>
    json({
      '@timestamp': `${iso(time)}.${millis(time)}Z`,
      'log.level': 'INFO',
      message: text,
      'ecs.version': '1.6.0',
      'service.name': 'shop',
    }),
  fluentd: (text, { time }) =>
    `${day(time)}.${millis(time)}456789 +0000 app.web: ${json({ log: text, stream: 'stdout' })}`,
  env_logger: (text, { time }) => `[${iso(time)}Z INFO  shop::relay] ${text}`,
  'tracing json': (text, { time }) =>
    json({
      timestamp: `${iso(time)}.${millis(time)}456Z`,
      level: 'INFO',
      fields: { message: text },
      target: 'shop::relay',
    }),
  'tracing text': (text, { time }) => `${iso(time)}.${millis(time)}456Z  INFO shop::relay: ${text}`,
  'apache error log': (text, { time }) =>
    `[Wed ${month(time)} ${two(time.getUTCDate())} ${clock(time)}.${millis(time)}456 2024] [core:notice] [pid 4711:tid 1400] ${text}`,
  logcat: (text, { time }) =>
    `${two(time.getUTCMonth() + 1)}-${two(time.getUTCDate())} ${clock(time)}.${millis(time)}  4711  4799 I Shop    : ${text}`,
  '.NET systemd console': (text) => `<6>Shop.Relay[0] ${text}`,
  '.NET console': (text) => `info: Shop.Relay[0]\n      ${text}`,
  postgres: (text, { time }) => `${day(time)}.${millis(time)} UTC [4711] LOG:  ${text}`,
  'elixir logger': (text, { time }) => `${clock(time)}.${millis(time)} [info] ${text}`,
  'AWS lambda': (text, { time }) => `${iso(time)}.${millis(time)}Z\t${REQUEST}\tINFO\t${text}`,
  gelf: (text, { time }) =>
    json({
      version: '1.1',
      host: 'srv1',
      short_message: text,
      timestamp: time.getTime() / 1000,
      level: 6,
    }),
  'ts (moreutils)': (text, { time }) => `${syslogTime(time)} ${text}`,
};
