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
