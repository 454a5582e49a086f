package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
)

type report struct {
	facts    string
	costs    *costs
	ceilings []*ceiling
	waits    []*wait
}

// figure and target have the JSON form that benches/report reads.
type figure struct {
	ID     string   `json:"id"`
	Table  string   `json:"table"`
	Label  string   `json:"label"`
	Role   *string  `json:"role"`
	Kind   string   `json:"kind"`
	Unit   string   `json:"unit"`
	Median float64  `json:"median"`
	Min    *float64 `json:"min"`
	Max    *float64 `json:"max"`
	Ratio  *float64 `json:"ratio"`
}

type target struct {
	ID       string  `json:"id"`
	What     string  `json:"what"`
	Bound    string  `json:"bound"`
	Limit    float64 `json:"limit"`
	Measured float64 `json:"measured"`
	Met      bool    `json:"met"`
}

const atCeiling, waiting = "At the ceiling", "Waiting at the ceiling"

func (r report) write(file string) {
	fmt.Printf("- %s\n", r.facts)
	var figures []figure
	for _, table := range []string{one, many} {
		fmt.Printf("\n## %s\n\nKind of figures: CPU cost per ID.\n\n", table)
		fmt.Printf("| row | ns an ID | min..max | × F | × bwmarrin |\n|---|---:|---:|---:|---:|\n")
		for _, row := range r.costs.all() {
			if row.table == table {
				figures = append(figures, r.cost(row))
			}
		}
	}
	fmt.Printf("\n## %s\n\nFor a second, with 12 sequence bits unless the row says otherwise. Kinds of "+
		"figures: the layout's ceiling; for yitter, IDs borrowed from the future.\n\n", atCeiling)
	fmt.Printf("| row | goroutines | M IDs/s | of the ceiling | CPU s per s | came twice | not above the one " +
		"before, in one goroutine |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, row := range r.ceilings {
		figures = append(figures, row.figures()...)
	}
	fmt.Printf("\n## %s\n\nMilliseconds of calls for single IDs that took at least %v. Kind of figures: "+
		"the layout's ceiling.\n\n", waiting, shortest)
	fmt.Printf("| row | goroutines | next to one that fills 4096 | waits | p50 | p99.9 | longest |\n" +
		"|---|---:|---|---:|---:|---:|---:|\n")
	for _, row := range r.waits {
		figures = append(figures, row.figure())
	}
	targets := r.targets()
	fmt.Printf("\n## Targets\n\n| target | at most | here | |\n|---|---:|---:|---|\n")
	for _, target := range targets {
		verdict := "**missed**"
		if target.Met {
			verdict = "met"
		}
		fmt.Printf("| %s: %s | %.2f | %.2f | %s |\n",
			target.ID, target.What, target.Limit, target.Measured, verdict)
	}
	if file != "" {
		data := map[string]any{"suite": "Go", "facts": []string{r.facts}, "rows": figures, "targets": targets}
		check(os.WriteFile(file, must(json.MarshalIndent(data, "", "  ")), 0o644))
	}
}

func (r report) cost(row *row) figure {
	sorted := append([]float64(nil), row.samples...)
	sort.Float64s(sorted)
	mid, least, most := median(sorted), sorted[0], sorted[len(sorted)-1]
	toFloor, toRival := ratio(row, row.floor), ratio(row, r.costs.rival)
	fmt.Printf("| %s | %.2f | %.2f..%.2f | %.3f | %.3f |\n", row.label, mid, least, most, toFloor, toRival)
	var role *string
	if row.role != "" {
		role = &row.role
	}
	return figure{
		ID: slug(row.label), Table: row.table, Label: row.label, Role: role, Kind: "CPU cost per ID", Unit: "ns",
		Median: mid, Min: &least, Max: &most, Ratio: &toFloor,
	}
}

func (c *ceiling) figures() []figure {
	share, kind := "–", "IDs borrowed from the future"
	if c.most > 0 {
		share, kind = fmt.Sprintf("%.1f %%", c.idsPerSecond/c.most*100), "the layout's ceiling"
	}
	fmt.Printf("| %s | %d | %.3f | %s | %.2f | %d | %d |\n",
		c.label, c.goroutines, c.idsPerSecond/1e6, share, c.cpu, c.twice, c.falling)
	label := fmt.Sprintf("%s, goroutines: %d", c.label, c.goroutines)
	of := func(what, kind, unit string, value float64) figure {
		return figure{
			ID: slug(label + " " + what), Table: atCeiling, Label: label + ", " + what,
			Kind: kind, Unit: unit, Median: value,
		}
	}
	return []figure{
		of("IDs", kind, "M IDs/s", c.idsPerSecond/1e6),
		of("processor", "none of the three", "CPU s per s", c.cpu),
		of("came twice", "none of the three", "IDs", float64(c.twice)),
	}
}

func (w *wait) figure() figure {
	beside, label := "no", fmt.Sprintf("%s, goroutines: %d", w.label, w.goroutines)
	if w.fills {
		beside, label = "yes", label+", next to one that fills 4096"
	}
	mid, late, longest := w.quantile(500), w.quantile(999), w.quantile(1000)
	fmt.Printf("| %s | %d | %s | %d | %.2f | %.2f | %.2f |\n",
		w.label, w.goroutines, beside, len(w.times), mid, late, longest)
	return figure{
		ID: slug(label + " p99.9"), Table: waiting, Label: label + ", p99.9",
		Kind: "the layout's ceiling", Unit: "ms", Median: late,
	}
}

func (r report) targets() (targets []target) {
	atMost := func(id, what string, limit, measured float64) {
		targets = append(targets, target{id, what, "at most", limit, measured, measured <= limit})
	}
	of := r.costs
	atMost("G1", "`NextID` / bwmarrin", 1.3, ratio(of.next, of.rival))
	atMost("G1", "`NextID` with `WithClock(\"gated\")` / bwmarrin", 1.3, ratio(of.gated, of.rival))
	atMost("G1", "`NextID` / its bound, a call through cgo that does the least", 1.1, ratio(of.next, of.bound))
	atMost("G2", "`Buffered` / bwmarrin", 0.3, ratio(of.buffered, of.rival))
	atMost("G3", "`AppendIDs` of 256, ns an ID", 3, median(of.batch.samples))
	for _, row := range r.ceilings {
		if row.ours {
			what := fmt.Sprintf("CPU s per s at the ceiling, %s, goroutines: %d", row.label, row.goroutines)
			atMost("G4", what, 0.4, row.cpu)
		}
	}
	for _, row := range r.waits {
		if row.ours && row.fills {
			what := fmt.Sprintf("p99.9 of waits in ms, next to one that fills, goroutines: %d", row.goroutines)
			atMost("G5", what, 5, row.quantile(999))
		} else if row.ours {
			atMost("G5", fmt.Sprintf("p99.9 of waits in ms, goroutines: %d", row.goroutines), 3, row.quantile(999))
		}
	}
	return targets
}

// ratio returns the median of the ratios of all rounds.
func ratio(row, to *row) float64 {
	ratios := make([]float64, len(row.samples))
	for round := range ratios {
		ratios[round] = row.samples[round] / to.samples[round]
	}
	return median(ratios)
}

func median(values []float64) float64 {
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	return sorted[len(sorted)/2]
}

var notInSlug = regexp.MustCompile("[^a-z0-9]+")

func slug(label string) string {
	return "go." + strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(label), "-"), "-")
}

func thousands(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d M", n/1_000_000)
}
