// node replay.mjs DEVICE: reads {forms, jobs: [[form, answers, hex]]}, writes the record of each and the bytes it took.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Draw, read, record } = await import(pathToFileURL(process.argv[2]));
const { forms, jobs } = JSON.parse(readFileSync(0, "utf8"));

class Fixed {
  constructor(hex) {
    Object.assign(this, { all: Uint8Array.from(Buffer.from(hex, "hex")), at: 0 });
  }

  bytes(count) {
    if (this.at + count > this.all.length) throw new Error("out of bytes");
    return this.all.slice(this.at, (this.at += count));
  }
}

const parts = forms.map(read);
const played = jobs.map(([form, answers, hex]) => {
  const source = new Fixed(hex);
  try {
    return [record(forms[form], answers, new Draw(source), parts[form]), source.at];
  } catch (error) {
    return [String(error), source.at];
  }
});
console.log(JSON.stringify(played));
