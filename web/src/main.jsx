import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import '@graphiql/plugin-explorer/style.css';
import './page.css';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { GraphiQL } from 'graphiql';
import { useGraphiQLActions } from '@graphiql/react';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { asWritten } from './operation.js';
import { seedHistory, seedTabs, settleTabs } from './stored.js';

const page = JSON.parse(document.getElementById('kith').textContent);
const url = new URL(page.endpoint || '/graphql', location.href).href;
// What the headers editor holds goes along, as the payload of connection_init.
const send = createGraphiQLFetcher({ url, subscriptionUrl: url.replace(/^http/, 'ws') });
const fetcher = (params, options) => send(...asWritten(params, options));
const plugins = [HISTORY_PLUGIN, explorerPlugin()];
const headers = page.token
  ? JSON.stringify({ Authorization: `Bearer ${page.token}` }, null, 2)
  : undefined;

seedTabs(page.tabs ?? []);
settleTabs();
seedHistory(headers);

// GraphiQL shows default headers without counting them as the tab's own: the history
// would keep the operation without them, and bring it back signed out.
function SignIn() {
  const { updateActiveTabValues } = useGraphiQLActions();
  useEffect(() => {
    if (headers) updateActiveTabValues({ headers });
  }, []);
  return null;
}

// Headers are not stored: after a reload the page's token stands again, since one of an
// earlier demo would be refused. Until then what the editor holds is sent.
createRoot(document.getElementById('root')).render(
  <GraphiQL
    fetcher={fetcher}
    plugins={plugins}
    initialHeaders={headers}
    defaultHeaders={headers}
    shouldPersistHeaders={false}
    defaultEditorToolsVisibility={true}
  >
    <GraphiQL.Logo>
      <span className="kith">Kith</span>
    </GraphiQL.Logo>
    <SignIn />
  </GraphiQL>,
);
