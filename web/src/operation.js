import { parse } from 'graphql';

// GraphiQL parses the editor's text some time after it changed. Who runs a tab at once after
// having opened it would send that tab's text with the name and the kind of the tab before.
export function asWritten(params, options) {
  const document = parsed(params.query);
  if (!document) return [params, options]; // the server tells what is wrong with it
  const operations = document.definitions.filter((d) => d.kind === 'OperationDefinition');
  const isThere = operations.some((o) => o.name?.value === params.operationName);
  const operationName = isThere ? params.operationName : operations[0]?.name?.value;
  return [{ ...params, operationName }, { ...options, documentAST: document }];
}

function parsed(text) {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
