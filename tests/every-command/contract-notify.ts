/** The contract of the chats. */
import { CHATS, call, type Entry, FLOCK, HOSTS_FAIL, OUTPUT, withEvent } from './entry.ts';

export const NOTIFY: readonly Entry[] = [
  {
    command: 'notify setup',
    calls: [
      {
        args: ({ files }) => [
          ...['--channel', 'both', '--chat-id', '-1001234567890'],
          ...['--token-file', files.botToken, '--webhook-file', files.webhook],
        ],
      },
      call('--channel', 'both', '--chat-id', '-1001234567890', '--no-test'),
    ],
    writes: true,
    refusals: {
      ...CHATS,
      ...FLOCK,
      ...OUTPUT,
      network_error: ['every host hangs up'],
      not_writable: ['a file stands in the place of locks'],
      token_invalid: ['every host answers 401'],
      delivery_failed: [
        'every host answers 403',
        'every host answers 404',
        'every host answers 429',
        'every host answers 500',
        'every host answers no JSON',
      ],
    },
  },
  {
    command: 'notify digest',
    calls: [call('--dry-run'), call('--scheduled')],
    refusals: {
      ...CHATS,
      ...OUTPUT,
      file_unreadable: ['config.yml is a folder', 'the audit log is a folder'],
    },
  },
  {
    command: 'notify test',
    calls: [call(), call('--json')],
    refusals: {
      ...CHATS,
      ...OUTPUT,
      not_configured: ['no chat is configured'],
      'status 1': HOSTS_FAIL,
    },
  },
  {
    command: 'notify status',
    calls: [call(), call('--offline', '--json')],
    refusals: { ...CHATS, ...OUTPUT, 'status 1': ['no chat is configured', ...HOSTS_FAIL] },
  },
  {
    command: 'notify send',
    calls: [
      withEvent('--channel', 'both', '--strict'),
      withEvent('--channel', 'both', '--dry-run'),
    ],
    writes: true,
    changesInSpite: true,
    refusals: {
      ...CHATS,
      ...OUTPUT,
      'status 4': [
        'flock is missing',
        'a file stands in the place of locks',
        'every host answers 429',
        'every host answers 500',
        'every host hangs up',
        'every host answers no JSON',
      ],
      'status 1': [
        'a file stands in the place of spool',
        'every host answers 401',
        'every host answers 403',
        'every host answers 404',
      ],
    },
  },
  {
    command: 'notify flush',
    calls: [call('--now')],
    writes: true,
    changesInSpite: true,
    refusals: {
      ...CHATS,
      ...FLOCK,
      ...OUTPUT,
      not_writable: ['a file stands in the place of locks'],
    },
  },
  {
    command: 'notify queue',
    calls: [
      call('retry', '--all'),
      call('list'),
      { args: ({ waiting, dead }) => ['show', waiting, dead] },
      { args: ({ dead }) => ['drop', dead, '--json'] },
    ],
    writes: true,
    wrong: [['message_not_found', call('show', '0nope-0000')]],
    refusals: { ...FLOCK, ...OUTPUT, not_writable: ['a file stands in the place of locks'] },
  },
  {
    command: 'notify preview',
    calls: [withEvent(), call('--json')],
    refusals: { ...CHATS, ...OUTPUT },
  },
];
