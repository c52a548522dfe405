/** Loaded by the commands that change secrets; bundled into dist/lib/env-writing.cjs. */
export { unsetSecrets } from '@runner/common/app-secrets/change';
export { requireApp } from '@runner/common/apps/store';
export { noteUnread, store } from '../change.ts';
export { parseDotenv } from '../dotenv.ts';
export { restartFor } from '../restart.ts';
export { checkedValue, readFileOf, readValue, scopeOf, variableName } from '../value.ts';
