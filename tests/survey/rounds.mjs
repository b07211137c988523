// node rounds.mjs DEVICE: reads {modules, forms, jobs, lies}, plays all rounds of each job, and writes for each module [lines, memory, bytes], and what it says to each form that lies.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { modules, forms, jobs, lies } = JSON.parse(readFileSync(0, "utf8"));

function said(act) {
  try {
    return act();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

const found = [];
for (const path of modules) {
  const rounds = pathToFileURL(path), { Draw, read } = await import(new URL("device.mjs", rounds)), { remember, again } = await import(rounds);
  const played = jobs.map(([place, answers, hex]) => said(() => {
    const all = Uint8Array.from(Buffer.from(hex, "hex"));
    let at = 0;
    const by = new Draw({ bytes: (count) => all.slice(at, (at += count)) });
    let memory = remember(forms[place][0], by), line;
    const lines = answers.map((answer, i) => ([line, memory] = again(forms[place][i], memory, answer, by), line));
    return [lines, memory, at];
  }));
  found.push({ played, lies: lies.map((form) => said(() => (read(form), null))) });
}
console.log(JSON.stringify(found));
