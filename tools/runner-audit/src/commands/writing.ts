/** Loaded by emit for a stream, or for an event that may contain a secret; bundled into dist/lib/audit-writing.cjs. */
export { RecordCleaner } from '@runner/common/redaction/redact';
export { appendStream } from '../log/append-stream.ts';
