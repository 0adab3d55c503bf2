// Subscribes as apps do, by the client named first, at the URL named second, and prints a
// line for each answer and for the end. It resumes from the cursor of the last answer.
import { createClient as createSSE } from 'graphql-sse';
import { createClient as createWS } from 'graphql-ws';
import WebSocket from 'ws';

const [kind, url] = process.argv.slice(2);
const headers = { Authorization: 'Bearer good' };
const retry = { retryAttempts: 100, retry: () => new Promise((done) => setTimeout(done, 20)) };
const client =
  kind === 'ws'
    ? createWS({ url: url.replace(/^http/, 'ws'), webSocketImpl: WebSocket, connectionParams: headers, retryAttempts: retry.retryAttempts, retryWait: retry.retry })
    : createSSE({ url, headers, retryAttempts: retry.retryAttempts, retry: retry.retry });

const tell = (line) => console.log(JSON.stringify(line));
const variables = {};
const query = 'subscription($s: String) { feedItemAdded(since: $s) { cursor node { id title } } }';
client.subscribe(
  { query, variables },
  {
    next({ data, errors }) {
      if (errors) return tell({ code: errors[0].extensions.code });
      variables.s = data.feedItemAdded.cursor;
      tell(data.feedItemAdded.node);
    },
    error(err) {
      tell({ code: Array.isArray(err) ? err[0].extensions.code : String(err) });
    },
    complete() {
      tell({ end: 'complete' });
    },
  },
);
