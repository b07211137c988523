// Every call of the client once; the answers as JSON.
import process from "node:process";

const [client, url, token] = process.argv.slice(2);
const { Server } = await import(client);

const server = new Server(url, token, { pause: 1 });
const people = server.session("people");
const caught = async (work) => {
  try { await work(); return null; } catch (error) {
    return { kind: error.name, message: error.message, ...error.facts };
  }
};
const age = { column: "age", epsilon: 0.25 };
const found = {
  datasets: await server.datasets(),
  facts: await people.facts(),
  before: await people.remaining(),
  plan: await people.plan("mean", { column: "age", error: 2 }),
  can: await people.canRelease("mean", { ...age, epsilon: 0.123456 }),
  mean: await people.release("mean", age),
  table: await people.release("table", { by: "sex", of: { age: ["mean"] }, epsilon: 0.25 }),
  all: await people.releaseAll([
    { statistic: "count", epsilon: 0.25 },
    { statistic: "quantiles", q: [0.25, 0.75], ...age },
  ]),
  wrong: await caught(() => people.release("mean", { ...age, epsilon: -1 })),
  unknown: await caught(() => server.session("no such").facts()),
  dear: await caught(() => people.release("mean", { ...age, epsilon: 100_000 })),
  insecure: await caught(() => new Server("http://statistics.example", token)),
  after: await people.remaining(),
  history: await people.history(),
};
console.log(JSON.stringify(found));
