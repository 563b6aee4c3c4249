'use strict';

const $ = id => document.getElementById(id);

// element returns an element with a text and children. Texts come from clusters: they are never read as HTML.
function element(name, content, className, ...children) {
  const out = document.createElement(name);
  if (content !== undefined && content !== null) out.textContent = content;
  if (className) out.className = className;
  out.append(...children);
  return out;
}

function link(text, to) {
  const out = element('a', text);
  out.setAttribute('href', '#' + to);
  return out;
}

function age(since) {
  if (!since) return '';
  const seconds = Math.max(0, (Date.now() - Date.parse(since)) / 1000);
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['m', 60]]) {
    if (seconds >= 2 * size) return Math.floor(seconds / size) + unit;
  }
  return Math.floor(seconds) + 's';
}

// The list.

const rows = new Map(); // by ID: the row and its element

// named returns a row with the parts of its ID, KIND.GROUP/NAMESPACE/NAME.
function named(row) {
  const [kind, namespace, name] = row.id.split('/');
  return { ...row, kind: kind.split('.')[0], namespace, name };
}

let redrawn = 0; // elements made for changes, for tests

const state = row => row.ready ? (row.reason ? 'Warning' : 'Ready') : (row.phase === 'Failed' || row.phase === 'Degraded' ? 'Failed' : 'Waiting');
const order = row => [{ Failed: 0, Waiting: 1, Warning: 2, Ready: 3 }[state(row)], row.namespace, row.name, row.kind];

function before(a, b) {
  const left = order(a), right = order(b);
  for (let i = 0; i < left.length; i++) {
    if (left[i] !== right[i]) return left[i] < right[i];
  }
  return false;
}

function draw(row) {
  redrawn++;
  const why = element('td', null, 'why');
  if (row.reason) why.append(element('strong', row.reason), ' ' + (row.message || ''));
  if (row.heldBack) why.append(element('span', ' waits: ' + row.heldBack, 'soft'));
  if (row.hint) why.append(element('span', row.hint, 'hint'));
  const name = element('td', null, '', link(row.name, '/' + row.id));
  if (row.kind !== 'AppService') name.append(element('span', ' ' + row.kind, 'soft'));
  const since = element('td', age(row.since), 'soft');
  return element('tr', null, '', element('td', row.phase || 'Unknown', 'state ' + state(row)), name,
    element('td', row.namespace), element('td', row.replicas), why, since);
}

// place puts the element of a row where it belongs, by bisection: elements are in order.
function place(entry) {
  const body = $('rows'), all = body.children;
  let low = 0, high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(rows.get(all[middle].dataset.id).row, entry.row)) low = middle + 1; else high = middle;
  }
  body.insertBefore(entry.element, all[low] || null);
}

function put(row) {
  const old = rows.get(row.id);
  if (old) old.element.remove();
  const entry = { row, element: draw(row) };
  entry.element.dataset.id = row.id;
  rows.set(row.id, entry);
  entry.element.hidden = !matches(row);
  place(entry);
}

function gone(id) {
  const entry = rows.get(id);
  if (!entry) return;
  entry.element.remove();
  rows.delete(id);
}

function matches(row) {
  const words = $('search').value.toLowerCase().split(/\s+/);
  const text = [row.name, row.namespace, row.kind, row.phase, row.reason, row.message].join(' ').toLowerCase();
  return words.every(word => text.includes(word)) && (!$('namespace').value || row.namespace === $('namespace').value) &&
    (!$('kind').value || row.kind === $('kind').value) && (!$('unready').checked || !row.ready);
}

function filter() {
  for (const { row, element } of rows.values()) element.hidden = !matches(row);
  summarize();
}

function options(select, values) {
  const chosen = select.value;
  const known = new Set([...select.options].map(option => option.value));
  for (const value of values) {
    if (!known.has(value)) { const option = element('option', value); option.value = value; select.append(option); known.add(value); }
  }
  select.value = chosen;
}

function summarize() {
  const count = { all: 0, ready: 0, updating: 0, line: 0, shown: 0 };
  for (const { row, element } of rows.values()) {
    count.all++;
    if (row.ready) count.ready++;
    if (row.phase === 'Updating') count.updating++;
    if (row.heldBack === 'its turn') count.line++;
    if (!element.hidden) count.shown++;
  }
  $('counts').textContent = `${count.all - count.ready} not ready, ${count.ready} ready; ${count.updating} roll out, ${count.line} wait for their turn`;
  $('none').hidden = count.shown > 0;
  document.title = `${count.all - count.ready} not ready – AppServices`;
}

let due = false;
function summarizeSoon() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; summarize(); });
}

// doubt says why the page may be old, or that it is not.
function doubt(why) { $('connection').textContent = why ? why + ': this is what was seen last' : ''; }
const trouble = why => doubt(why && 'the cluster does not answer: ' + why);

function follow() {
  const events = new EventSource('/rows');
  events.addEventListener('rows', event => {
    const { scope, kinds, trouble: why, rows: sent } = JSON.parse(event.data);
    const all = sent.map(named);
    trouble(why);
    $('scope').textContent = scope;
    options($('kind'), kinds);
    options($('namespace'), new Set(all.map(row => row.namespace)));
    const now = new Set(all.map(row => row.id));
    for (const id of [...rows.keys()]) if (!now.has(id)) gone(id);
    for (const row of all) put(row);
    summarize();
  });
  events.addEventListener('row', event => {
    const row = named(JSON.parse(event.data));
    options($('namespace'), [row.namespace]);
    put(row);
    summarizeSoon();
    if (row.id === shown) refreshSoon();
  });
  events.addEventListener('gone', event => { gone(JSON.parse(event.data)); summarizeSoon(); });
  events.addEventListener('trouble', event => trouble(JSON.parse(event.data)));
  events.onerror = () => doubt('the command has ended');
}

// The page of a resource.

let shown = ''; // the ID that the page shows; empty for the list

function nodes(node) {
  const item = element('li');
  item.append(element('span', node.name, node.state || ''));
  const details = [node.stage && `[${node.stage}]`, node.ready, node.message, node.until && `until ${node.until}`].filter(Boolean).join('  ');
  if (details) item.append((node.type === 'hint' ? ': ' : '  ') + details);
  if (node.since && node.type !== 'resource') item.append(element('span', '  ' + age(node.since), 'soft'));
  if (node.children) item.append(element('ul', null, '', ...node.children.map(nodes)));
  return item;
}

const section = (title, ...content) => element('section', null, '', element('h3', title),
  ...content.length ? content : [element('p', 'none yet', 'soft')]);
const treeOf = node => element('ul', null, 'tree', nodes(node));

function stages(rollout) {
  const list = element('ol', null, 'stages');
  for (const run of rollout.runs || []) {
    list.append(element('li', `task ${run.job}: ${run.result || 'running'}`, run.result === 'Succeeded' ? 'Ready' : run.result ? 'Failed' : 'Waiting'));
  }
  for (const step of rollout.steps || []) list.append(element('li', step.name, step.state));
  if (!rollout.wanted) return [list];
  const bar = element('progress');
  bar.max = rollout.wanted;
  bar.value = Math.min(rollout.updated, rollout.ready);
  bar.setAttribute('aria-label', 'replicas of the newest release');
  return [list, bar, ` ${rollout.updated} of ${rollout.wanted} updated, ${rollout.ready} ready` + (rollout.held ? `; waits: ${rollout.held}` : '')];
}

function releases(page) {
  if (page.unread) return [element('p', page.unread, 'soft')];
  return (page.releases || []).map(release => {
    const out = element('details', null, '', element('summary',
      `${release.revision}  ${release.released ? new Date(release.released).toUTCString() : ''}  ${release.status}  ${release.chart}  ${release.changedBy || ''}`));
    for (const change of release.changes || []) out.append(element('div', change));
    if (release.restarts) out.append(element('div', 'restarts pods', 'soft'));
    if (release.failed) out.append(element('div', 'the release before failed: ' + release.failed, 'Failed'));
    return out;
  });
}

// later returns a block whose content is asked for when it is opened.
function later(title, load) {
  const out = element('details', null, '', element('summary', title));
  out.addEventListener('toggle', async () => {
    if (!out.open) return;
    while (out.children.length > 1) out.lastChild.remove();
    try { out.append(...await load()); } catch (error) { out.append(element('p', error.message, 'Failed')); }
  });
  return out;
}

async function get(path) {
  const response = await fetch(path, { redirect: 'error' });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

const path = id => id.split('/').map(encodeURIComponent).join('/');

function pods(page) {
  const namespace = encodeURIComponent(page.row.namespace);
  return (page.pods || []).flatMap(pod => pod.containers.flatMap(container => {
    const from = `/logs/${namespace}/${encodeURIComponent(pod.name)}/${encodeURIComponent(container)}`;
    const log = async query => [element('pre', await (await get(from + query)).text())];
    return [later(`${pod.name}  ${container}  ${pod.phase}`, () => log(''))].concat(
      pod.restarts ? [later(`${pod.name}  ${container}  before its restart`, () => log('?previous'))] : []);
  }));
}

async function open(id) {
  const page = await (await get('/resource/' + path(id))).json();
  if (id !== shown) return; // another one was opened meanwhile
  const row = page.row = named(page.row);
  const title = element('h2', `${row.kind} ${row.name} `, '', element('span', row.phase || 'Unknown', 'state ' + state(row)));
  const unfolded = [...$('resource').querySelectorAll('details[open] > summary')].map(summary => summary.textContent);
  $('resource').replaceChildren(link('← all', ''), title, element('p', 'namespace ' + row.namespace, 'soft'),
    section('Why', treeOf(page.why)), section('Rollout', ...stages(page.rollout)), section('Objects', treeOf(page.tree),
      later('as YAML, without texts that may hold a password', async () =>
        (await (await get('/objects/' + path(id))).json()).flatMap(object => [element('h4', object.Name), element('pre', object.YAML)]))),
    section('Releases', ...releases(page)), section('Logs', ...pods(page)));
  for (const details of $('resource').querySelectorAll('details')) {
    if (unfolded.includes(details.firstChild.textContent)) details.open = true;
  }
}

let refresh = 0;
function refreshSoon() {
  clearTimeout(refresh);
  refresh = setTimeout(() => show(), 300);
}

async function show() {
  const id = decodeURIComponent(location.hash.slice(1)).replace(/^\//, '');
  const changed = id !== shown;
  shown = id;
  $('list').hidden = id !== '';
  $('resource').hidden = id === '';
  if (!id) return;
  if (changed) $('resource').replaceChildren(element('p', 'reading …', 'soft'));
  try { await open(id); } catch (error) {
    if (id === shown) $('resource').replaceChildren(link('← all', ''), element('p', error.message, 'Failed'));
  }
}

for (const id of ['search', 'namespace', 'kind', 'unready']) $(id).addEventListener('input', filter);
addEventListener('hashchange', show);
addEventListener('keydown', event => {
  if (event.key === '/' && !(event.target instanceof HTMLInputElement)) { event.preventDefault(); location.hash = ''; $('search').focus(); }
  if (event.key === 'Escape') { location.hash = ''; $('search').blur(); }
});
setInterval(() => { // ages, without drawing rows again
  for (const { row, element } of rows.values()) if (!element.hidden) element.lastChild.textContent = age(row.since);
}, 10000);
show();
follow();
