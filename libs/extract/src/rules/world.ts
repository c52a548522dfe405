/** What the world around a program refuses: network, rights, files, git, databases, packages. */
import { rule } from './rule.ts';

/** Tried from top to bottom. */
export const WORLD = [
  rule(
    { name: 'git', class: 'git', score: 90 },
    /^CONFLICT \(|would be overwritten by (?:merge|checkout)|\(non-fast-forward\)|\[(?:remote )?rejected\]|refusing to merge unrelated|You have unmerged paths/,
    /could not read (?:Username|Password) for|Authentication failed for|Repository not found|Could not read from remote repository|unable to access '|Remote branch .{1,100} not found|pathspec '.{1,200}' did not match|not a git repository|reference is not a tree/,
  ),
  rule(
    { name: 'ssh', class: 'access', score: 88 },
    /^Load key ".{1,300}": |Permission denied \((?:publickey|password)|Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|Too many authentication failures|ssh: connect to host/,
  ),
  rule(
    { name: 'network', class: 'network', score: 88, pick: 'last' },
    /SSL certificate problem|certificate (?:verify failed|has expired|signed by unknown|is not valid|required)|CERT_HAS_EXPIRED|self[- ]signed certificate|x509: |SSL_ERROR|SSL routines|UNABLE_TO_\w*(?:CERT|ISSUER|SIGNATURE)\w*|handshake failure|unable to get local issuer/i,
    /EADDRINUSE|[Aa]ddress already in use|port is already allocated|bind\(\) to .{1,80} failed|Port \d+ is (?:already )?in use/i,
    /ECONNREFUSED|[Cc]onnection refused|[Cc]ould not connect to|[Cc]an't connect to|[Cc]an't reach database|[Ff]ailed to connect to|[Uu]nable to connect to|ENOTFOUND|EAI_AGAIN|ECONNRESET|[Cc]onnection (?:reset|timed out|closed|aborted)|Could not resolve host|Name or service not known|name resolution|no such host|Temporary failure|No route to host|[Nn]etwork is unreachable|dial tcp|getaddrinfo|unable to resolve host|socket hang up|EHOSTUNREACH|NXDOMAIN|non-existing domain|Max retries exceeded/,
  ),
  rule(
    { name: 'docker-daemon', class: 'network', score: 90, on: 'body' },
    /Cannot connect to the Docker daemon|Error response from daemon|^(?:Error|error) from server|pull access denied|manifest (?:for \S+ not found|unknown)|failed to solve: (?!process)/,
  ),
  rule(
    { name: 'http-status', class: 'network', score: 80 },
    /\b(?:HTTP(?:\/[\d.]+)?(?: status| error)?(?: code)?:?|status code|returned error:|ERROR|error|responded with|response:?|received:?|with status:?|got) (?:a )?(?<!will return status code )[45]\d\d\b(?! ?(?:bytes|[kKMG]i?B|ms|s\b|files|rows|lines|items|%))|\b(?:401 Unauthorized|403 Forbidden|404 Not Found|429 Too Many|50[0234] (?:Internal|Bad|Service|Gateway))/,
  ),
  rule(
    { name: 'database', class: 'database', score: 90, on: 'body' },
    /^(?:ERROR \d{4} \([0-9A-Z]{5}\)|(?:.{0,80}: )?ERROR: {1,3}(?:relation|extension|schema|column|syntax error at|duplicate key|null value|permission denied for|database|role|type|function|constraint|insert or update|update or delete|cannot drop|deadlock)|FATAL: {1,3}\S|ORA-\d{5}|SQLSTATE\[|SQL Error|P\d{4}:? |Error: P\d{4}\W{1,3}\w)|password authentication failed|Access denied for user|Unknown database|(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed|violates (?:unique|foreign key|not-null|check) constraint|relation ".{1,80}" (?:does not|already) exist|no such (?:table|column)|near ".{1,40}": syntax error|You have an error in your SQL syntax|Duplicate (?:entry|column|key name)|database is locked|SequelizeDatabaseError|QueryFailedError/,
  ),
  rule(
    { name: 'gave-up', class: 'network', score: 60, pick: 'last' },
    /ImagePullBackOff|CrashLoopBackOff|ErrImagePull|\bafter \d+ (?:attempts|retries|tries)\b|health ?check\b.{0,60}(?:failed|unhealthy|timed)|(?:did not become|is not|never became) (?:healthy|ready)\b/i,
  ),
  rule(
    { name: 'rights', class: 'access', score: 85 },
    /[Pp]ermission denied|\bEACCES\b|\bEPERM\b|[Oo]peration not permitted|[Aa]ccess (?:is )?denied|[Uu]nauthorized|[Nn]ot authorized|[Aa]uthentication (?:failed|required)|[Ii]nvalid (?:credentials|token|api key)|Read-only file system|(?:password|terminal) is required|NO_PUBKEY|[Pp]ublic key is not available|signatures? .{0,40}(?:verif|invalid)|is not signed|\bEROFS\b|must be (?:root|run as)|Forbidden\b/,
  ),
  rule(
    { name: 'package', class: 'package', score: 87 },
    /^(?:The current|Requested) (?:\w+ )?SDK version(?: is|:) \S/,
    /No matching distribution|Could not find a version|ResolutionImpossible|conflicting dependencies|version solving failed|No solution found|could not be resolved to an installable set|ERESOLVE|unable to resolve dependency tree|no matching package named|no matching version|Could not find (?:gem|a valid gem|artifact|com\.|org\.|io\.)|Couldn't find (?:any versions|package)|Unable to (?:locate|find) package|[Cc]ould not resolve dependenc|Could not resolve all (?:files|dependencies)|is not in (?:this|the npm) registry|could not be found or you do not have|unmet dependenc|failed to select a version|(?:^|\W)(?:because|so,) .{0,200}\bdepends on |^(?!.{0,20}fact:).{0,200}\bdepends on (?:\S{0,80}[<>=~^@]\S|.{1,100} (?:which|but) )|\brequires \S{1,80} .{0,60}does not satisfy|No package .{1,60} available|nothing provides|package .{1,100} (?:not found|does not exist)|frozen[- ]lockfile|lock ?file .{0,60}(?:out of date|outdated|out of sync|not up to date|needs to be updated|does not satisfy|would have been|is not up to date)|in sync\b|can only install with an existing |Missing: .{1,120} from lock file|\bE404\b|\bETARGET\b|Not Found - GET|checksum mismatch|hash mismatch|integrity check|EINTEGRITY|THESE PACKAGES DO NOT MATCH|unsupported engine|EBADENGINE|requires (?:php|node|python|ruby|go|rust\w*|java|a newer|a different)\b/i,
  ),
  rule(
    { name: 'shell-command', class: 'command', score: 88 },
    /command not found|: not found$|: No such file or directory$|unbound variable|parameter (?:null or )?not set|bad substitution|bad interpreter|cannot execute|is not recognized as an internal|spawn \S{1,100} ENOENT|executable file not found|: Permission denied$|missing script|No such command|is not a (?:\w+ )?command/i,
  ),
  // The second pattern is what gettext and libc say in other languages.
  rule(
    { name: 'missing-file', class: 'file', score: 82 },
    /\bENOENT\b|[Nn]o such file or directory|\bENOTDIR\b|\bEISDIR\b|\bEEXIST\b|\bEMFILE\b|\bENFILE\b|\bELOOP\b|\bENAMETOOLONG\b|[Tt]oo many open files|File exists\b|FileNotFound|[Nn]ot a directory|Is a directory|Input\/output error|[Bb]roken pipe|EPIPE|\bEXDEV\b|\bEBUSY\b|resource busy/,
    /Aucun fichier ou dossier|[Pp]ermission non accordée|commande introuvable|No existe el (?:archivo|fichero)|[Pp]ermiso denegado|orden no encontrada|Datei oder Verzeichnis nicht gefunden|Keine Berechtigung|(?:Kommando|Befehl) nicht gefunden|Arquivo ou diretório|Permissão negada|comando não encontrado|File o directory non esistente|Permesso negato|comando non trovato|Нет такого файла|Отказано в доступе|команда не найдена|そのようなファイル|許可がありません|コマンドが見つかりません|没有那个文件或目录|权限不够|未找到命令|그런 파일이나|명령을 찾을 수 없|Bestand of map bestaat niet|Nie ma takiego pliku/,
  ),
  rule(
    { name: 'config', class: 'config', score: 84, pick: 'last' },
    /(?:[Mm]issing|[Uu]ndefined|[Rr]equired|[Uu]nset|must (?:be )?set|is not set|not defined|not set|not provided)\b.{0,60}\b(?:env(?:ironment)?(?: var\w*)?|[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{2,60})\b|\b[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{2,60}\b.{0,40}(?:is (?:not set|missing|required|undefined|empty)|must be|not (?:set|defined|found))/,
    /\[emerg\]|invalid number of arguments|unknown (?:directive|key|option|field|property|parameter|argument|flag|command|column|service|setting)|unrecognized (?:option|argument|directive|configuration)|[Ii]nvalid (?:configuration|config|option|value|argument|yaml|json|url|format|port)\b|additional propert|is not (?:a valid|allowed|permitted|supported)\b|Unsupported (?:argument|block|attribute)|\byaml: (?:line|unmarshal|did|mapping|control|found|invalid|unknown|cannot|input)|did not find expected|mapping values are not allowed|URL must start with|could not parse|[Uu]nable to parse|cannot parse|error parsing/,
  ),
  rule(
    { name: 'timeout', class: 'timeout', score: 80, pick: 'last' },
    /\btimed[ -]?out\b|\btime[- ]?out (?:of |after|exceeded|waiting|expired|reached|error)|^timeout: |: timeout\b|(?<![\w-])timeout$|deadline exceeded|\bETIMEDOUT\b|time limit|TimeoutError|took too long|did not (?:become|respond|start|finish).{0,40}(?:within|in time)|sending signal (?:TERM|KILL)/i,
  ),
];
