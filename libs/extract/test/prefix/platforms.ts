/** Prefixes that the stage may be tuned to. */
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

export const PLATFORMS: Readonly<Record<string, Prefixing>> = {
  'docker compose': (text) => `web-1  | ${text}`,
  'docker compose, timestamps': (text, { time }) =>
    `web-1  | ${iso(time)}.${millis(time)}456789Z ${text}`,
  'docker json-file': (text, { time }) =>
    json({ log: `${text}\n`, stream: 'stderr', time: `${iso(time)}.${millis(time)}456789Z` }),
  'CRI (kubernetes)': (text, { time }) =>
    `${iso(time)}.${millis(time)}456789+00:00 stderr F ${text}`,
  'journald short': (text, { time }) => `${syslogTime(time)} srv1 shop[4711]: ${text}`,
  'journald short-iso-precise': (text, { time }) =>
    `${iso(time)}.${millis(time)}456+0000 srv1 shop[4711]: ${text}`,
  'syslog, RFC 3164': (text, { time }) => `<30>${syslogTime(time)} srv1 shop[4711]: ${text}`,
  'syslog, RFC 5424': (text, { time }) =>
    `<30>1 ${iso(time)}.${millis(time)}Z srv1 shop 4711 - - ${text}`,
  heroku: (text, { time }) => `${iso(time)}.${millis(time)}456+00:00 app[web.1]: ${text}`,
  'GitHub Actions': (text, { time }) => `${iso(time)}.${millis(time)}4567Z ${text}`,
  'gh run view --log': (text, { time }) =>
    `build (20)\tRun npm test\t${iso(time)}.${millis(time)}4567Z ${text}`,
  'GitLab CI, timestamps': (text, { time }) => `${iso(time)}.${millis(time)}456Z 01O ${text}`,
  'Jenkins timestamper': (text, { time }) => `[${iso(time)}.${millis(time)}Z] ${text}`,
  fly: (text, { time }) => `${iso(time)}Z app[148e21b7] ams [info]${text}`,
  vercel: (text, { time }) => `[${clock(time)}.${millis(time)}] ${text}`,
  pm2: (text) => `0|shop     | ${text}`,
  foreman: (text, { time }) => `${clock(time)} web.1  | ${text}`,
  concurrently: (text) => `[api] ${text}`,
  turbo: (text) => `@m/api:build: ${text}`,
  log4j: (text, { time }) =>
    `${day(time)},${millis(time)} ${guessed(text).toUpperCase().padEnd(5)} [main] com.shop.Relay - ${text}`,
  'spring boot': (text, { time }) =>
    `${iso(time)}.${millis(time)}Z  INFO 4711 --- [shop] [           main] com.shop.Relay           : ${text}`,
  'python logging': (text, { time }) => `${day(time)},${millis(time)} - shop.app - INFO - ${text}`,
  gunicorn: (text, { time }) => `[${day(time)} +0000] [4711] [INFO] ${text}`,
  'winston json': (text, { time }) =>
    json({ level: 'info', message: text, timestamp: `${iso(time)}.${millis(time)}Z` }),
  pino: (text, { time }) =>
    json({ level: 30, time: time.getTime(), pid: 4711, hostname: 'srv1', msg: text }),
  'zap json': (text, { time }) =>
    json({
      level: guessed(text),
      ts: time.getTime() / 1000,
      caller: 'relay/main.go:42',
      msg: text,
    }),
  logrus: (text, { time }) => `time="${iso(time)}Z" level=info msg=${json(text)}`,
  serilog: (text, { time }) => `[${clock(time)} INF] ${text}`,
  monolog: (text, { time }) => `[${iso(time)}.${millis(time)}456+00:00] app.INFO: ${text} [] []`,
  'ruby logger': (text, { time }) =>
    `I, [${iso(time)}.${millis(time)}456 #4711]  INFO -- : ${text}`,
  klog: (text, { time }) =>
    `I${two(time.getUTCMonth() + 1)}${two(time.getUTCDate())} ${clock(time)}.${millis(time)}456    4711 relay.go:42] ${text}`,
  'nginx error log': (text, { time }) => `${slashed(time)} [notice] 4711#4711: ${text}`,
  'clock and bar': (text, { time }) => `${clock(time)} | ${text}`,
  'worker and level': (text, { n }) => `worker-${(n % 3) + 1} INFO ${text}`,
  'time and region': (text, { time }) => `${iso(time)}Z eu-west-1 ${text}`,
  'sequence number': (text, { n }) => `${String(n + 1).padStart(6, '0')} ${text}`,
  'apache time': (text, { time }) =>
    `srv1 - [${two(time.getUTCDate())}/${month(time)}/2024:${clock(time)} +0000] ${text}`,
};
