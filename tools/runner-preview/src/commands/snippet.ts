import { command } from '@runner/common/cli/command';
import { harmless } from '@runner/common/text/harmless';
import { requirePreviewed } from './work.ts';

/** One site for all previews, present and future. */
interface Snippet {
  app: string;
  proxy: string;
  text: string;
}

export const snippet = command({
  name: 'snippet',
  about: "Print the proxy's site for all previews of an app",
  details: 'One wildcard site finds each preview by its host name: a new preview needs no reload.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    proxy: {
      placeholder: 'NAME',
      required: true,
      choices: ['nginx', 'caddy', 'haproxy'],
      about: 'Which proxy',
    },
  },
  examples: ['runner preview snippet shop --proxy nginx > /etc/nginx/conf.d/shop-previews.conf'],
  async run({ paths, args, options }) {
    const { app, previews } = requirePreviewed(paths, args.app);
    const [first = '', ...rest] = previews.domain.split('.');
    const domain = rest.join('.');
    const [before = '', after = ''] = first.split('{n}');
    const isBranches = previews.branches !== undefined;
    const folder = `${paths.root}/apps/${app}--${isBranches ? 'br' : 'pr'}-`;
    const place = {
      wildcard: `*.${domain}`,
      pattern: [
        before,
        isBranches ? '[a-z0-9-]+' : '[0-9]+',
        `${after}\\.${domain.replaceAll('.', '\\.')}`,
      ] as const,
      socket: [folder, '/live/app.sock'] as const,
      name: `${app}-previews`,
      waker: paths.wakerSocket,
    };
    return {
      value: {
        app,
        proxy: options.proxy,
        text: SITES[options.proxy as 'nginx'](place),
      } satisfies Snippet,
    };
  },
  human: ({ text }: Snippet) => harmless(text),
});

interface PreviewSite {
  readonly wildcard: string;
  /** Around and of what stands for `{n}`. */
  readonly pattern: readonly [string, string, string];
  readonly socket: readonly [string, string];
  readonly name: string;
  readonly waker: string;
}

const SITES = {
  nginx: ({
    wildcard,
    pattern: [before, n, after],
    socket: [folder, rest],
  }: PreviewSite) => `server {
  listen 80;
  # listen 443 ssl; with ssl_certificate and ssl_certificate_key of ${wildcard}
  server_name "~^${before}(?<preview>${n})${after}$";
  location / {
    proxy_pass http://unix:${folder}$preview${rest}:;
    proxy_http_version 1.1;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection "upgrade";
  }
}

# Names that belong to no preview. After the other: nginx takes the first expression that matches.
server {
  listen 80;
  server_name "~${wildcard.slice(1).replaceAll('.', '\\.')}$";
  return 404;
}
`,
  caddy: ({ wildcard, pattern, socket: [folder, rest] }: PreviewSite) => `${wildcard} {
  # tls { dns PROVIDER … }
  @preview header_regexp preview Host ^${pattern[0]}(${pattern[1]})${pattern[2]}(:[0-9]+)?$
  handle @preview {
    reverse_proxy unix/${folder}{re.preview.1}${rest} {
      transport http {
        keepalive off
      }
    }
  }
  handle {
    respond 404
  }
}
`,
  haproxy: ({
    wildcard,
    pattern,
    name,
    waker,
  }: PreviewSite) => `# In the frontend, which has the certificate of ${wildcard}:
#   use_backend ${name} if { req.hdr(host),field(1,:),lower -m reg ^${pattern.join('')}$ }

# runner-waker finds each preview by its host name, also one that is awake.
backend ${name}
  mode http
  option http-server-close
  option forwardfor
  server waker unix@${waker}
`,
};
