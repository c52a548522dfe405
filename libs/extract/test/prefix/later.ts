/** Prefixes written from the documentation of their tools when the stage was done, before they were run. */
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

export const LATER: Readonly<Record<string, Prefixing>> = {
  'journald short-full': (text, { time }) => `Wed ${day(time)} UTC srv1 shop[4711]: ${text}`,
  'journald short-unix': (text, { time }) =>
    `${(time.getTime() / 1000).toFixed(6)} srv1 shop[4711]: ${text}`,
  's6-log, TAI64N': (text, { n }) =>
    `@40000000673db8${(0x31 + (n >> 3)).toString(16)}${(n * 1_370_000).toString(16).padStart(8, '0')} ${text}`,
  'svlogd -tt': (text, { time }) => `${day(time).replace(' ', '_')}.${millis(time)}45 ${text}`,
  'terraform remote-exec': (text) => `aws_instance.web (remote-exec): ${text}`,
  packer: (text) => `    amazon-ebs.web: ${text}`,
  vagrant: (text) => `    default: ${text}`,
  fabric: (text) => `[web1.example.com] out: ${text}`,
  'capistrano 2': (text) => ` ** [out :: web1.example.com] ${text}`,
  'cloud foundry': (text, { time }) =>
    `   ${iso(time)}.${millis(time).slice(0, 2)}+0000 [APP/PROC/WEB/0] OUT ${text}`,
  'aws logs tail': (text, { time }) =>
    `${iso(time)}.${millis(time)}000+00:00 ecs/web/0f3b9a1c7d2e4f60 ${text}`,
  'gcloud app logs': (text, { time }) => `${day(time)} default[20241120t095800]  ${text}`,
  'digitalocean apps': (text, { time }) => `[web] [${day(time)}] ${text}`,
  'slog json': (text, { time }) =>
    json({ time: `${iso(time)}.${millis(time)}456Z`, level: 'INFO', msg: text }),
  'google cloud logging': (text, { time }) =>
    json({ severity: 'INFO', textPayload: text, timestamp: `${iso(time)}.${millis(time)}Z` }),
  'winston simple': (text) => `info: ${text}`,
  log4js: (text, { time }) => `[${iso(time)}.${millis(time)}] [INFO] default - ${text}`,
  fern: (text, { time }) => `[${iso(time).slice(0, 10)}][${clock(time)}][shop][INFO] ${text}`,
  'boost log': (text, { time }) =>
    `[${day(time)}.${millis(time)}456] [0x00007f3a1c7d2740] [info]    ${text}`,
  log4perl: (text, { time }) => `${slashed(time)} INFO> relay.pl:42 main:: - ${text}`,
  'django verbose': (text, { time }) =>
    `${guessed(text).toUpperCase()} ${day(time)},${millis(time)} relay 4711 1400 ${text}`,
  structlog: (text, { time }) => `${day(time)} [info     ] ${text}`,
  sidekiq: (text, { time }) => `${iso(time)}.${millis(time)}Z pid=4711 tid=1xk7 INFO: ${text}`,
  mysql: (text, { time }) =>
    `${iso(time)}.${millis(time)}456Z 0 [Note] [MY-010116] [Server] ${text}`,
  redis: (text, { time }) =>
    `4711:M ${two(time.getUTCDate())} ${month(time)} 2024 ${clock(time)}.${millis(time)} * ${text}`,
  puma: (text) => `[4711] ${text}`,
  'logger -s': (text, { time }) => `<13>${syslogTime(time)} deploy: ${text}`,
};
