/** What delivers: `send` and `flush` need the same files, and one is opened faster than two. */
export { flushAll } from './flushing.ts';
export { announceAll } from './sending.ts';
