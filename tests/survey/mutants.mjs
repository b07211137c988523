// node mutants.mjs DEVICE: reads {devices, forms, jobs, lies, chances}, writes what first tells each device from the true one.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { devices, forms, jobs, lies, chances } = JSON.parse(readFileSync(0, "utf8"));

function source(hex) {
  const all = Uint8Array.from(Buffer.from(hex, "hex"));
  let at = 0;
  return { used: () => at, bytes: (count) => (at + count > all.length ? none() : all.slice(at, (at += count))) };
}

function none() {
  throw new Error("out of bytes");
}

function said(act) {
  try {
    return act();
  } catch (error) {
    return error.message;
  }
}

function difference({ Chance, Draw, read, record }) {
  for (const [[top, bottom, m, bits], [around]] of chances) {
    const chance = new Chance(top, bottom, m);
    if (chance.sum(chance.top, bits).some((end, i) => String(end) !== around[i])) return `chances: ${bits} bits`;
  }
  for (const [form, answers, hex, line] of jobs) {
    const from = source(hex);
    const drawn = said(() => record(forms[form], answers, new Draw(from)));
    if (drawn !== line || from.used() !== hex.length / 2) return `replay: ${forms[form].columns[0].name}`;
  }
  for (const [form, refusal] of lies) if (said(() => void read(form)) !== refusal) return `refusals: ${refusal}`;
  return null;
}

const found = {};
for (const path of devices) found[path] = difference(await import(pathToFileURL(path)));
console.log(JSON.stringify(found));
