/** What the executables load when they change what runs: all of it is bundled once, into dist/lib/deploy.cjs. */
export { listChanges } from './changes/list.ts';
export { fetchApps } from './fetch/fetch.ts';
export { writeBootFiles } from './instances/boot-files.ts';
export { stopAllBeforeTraffic } from './instances/stop-before.ts';
export { unreadSecretsOf } from './instances/unit-check.ts';
export { startAll } from './lifecycle/boot.ts';
export { changeRunning } from './lifecycle/verbs.ts';
export { planDeploy } from './pipeline/check.ts';
export { deploy } from './pipeline/deploy.ts';
export { explainFailure, printNextSteps } from './pipeline/explanation.ts';
export { pruneApps } from './prune/prune.ts';
export { removeApp } from './remove/remove.ts';
export { rollBackByHand } from './rollback/rollback.ts';
