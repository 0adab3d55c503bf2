// What GraphiQL finds in localStorage when it starts.

const EXAMPLES = 'kith:examples';

// GraphiQL restores its tabs from there. The examples are written once, and anew only when
// they changed (a demo started afresh has other ids in them): so they never pile up, and
// what the visitor wrote survives a reload. GraphiQL's `defaultTabs` can't do it: it
// leaves out the first tab's variables.
export function seedTabs(examples) {
  const text = JSON.stringify(examples);
  if (examples.length === 0 || localStorage.getItem(EXAMPLES) === text) return;
  const tabs = examples.map(toState);
  localStorage.setItem(EXAMPLES, text);
  localStorage.setItem('graphiql:query', tabs[0].query);
  localStorage.setItem('graphiql:variables', tabs[0].variables ?? '');
  localStorage.setItem('graphiql:tabState', JSON.stringify({ activeTabIndex: 0, tabs }));
}

// GraphiQL stores the open operation, its variables and the tabs one after another. A page
// that was left in between would find no tab for what it stored, and open one more.
export function settleTabs() {
  const { activeTabIndex, tabs } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}');
  const stored = (name) => localStorage.getItem(`graphiql:${name}`) ?? '';
  const isKept = (name) => tabs.some((tab) => (tab[name] ?? '') === stored(name));
  if (!tabs?.[activeTabIndex] || !isKept('query') || !isKept('variables')) return;
  for (const name of ['query', 'variables']) {
    localStorage.setItem(`graphiql:${name}`, tabs[activeTabIndex][name] ?? '');
  }
}

function toState({ name, query, variables }, index) {
  return {
    id: `kith-${index}`,
    title: name,
    query,
    variables: variables || null,
    headers: null,
    operationName: null,
    response: null,
  };
}

// An operation taken from the history brings its headers along: give it today's.
export function seedHistory(headers) {
  for (const list of ['queries', 'favorites']) {
    const text = localStorage.getItem(`graphiql:${list}`);
    if (!text) continue;
    const items = JSON.parse(text)[list].map((item) => ({ ...item, headers }));
    localStorage.setItem(`graphiql:${list}`, JSON.stringify({ [list]: items }));
  }
}
