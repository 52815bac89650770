"""Cells of real tables as a person read them off the page: row heading, column heading, value.

Facts only: the documents are not part of this project. `TUNED` tables were looked at while the table reader was
written; `UNSEEN` ones were written down first and read by it only to be counted; `LAST` ones were added at the end.
`HELD_OUT` ones are every other page, in the order of a hash, of those that were left with three columns or more, and two
pages of other documents. At first sight 52 of their 60 cells were right: all of the twelve planning tables, none of the
two others, one of which is read now that lines of print between rules can be rows. `FRESH` ones are on eleven other pages
of the same documents, mostly in the order of a hash, written down first: 40 of 44 cells were right at first sight, and nothing was changed after.
"""

from __future__ import annotations

from dataclasses import dataclass

_TEWKESBURY = "policy/Tewkesbury_Borough_Plan_2011-2031_Adopted_2022.pdf"
_BLACK_COUNTRY = "policy/Black_Country_Core_Strategy_2011.pdf"
_DRAFT_NPPF = "policy/Draft_NPPF_December_2025.pdf"
_BISHOPSGATE = "reading/documents/99_Bishopsgate_Planning_Statement.pdf"
_ICELAND_WHARF = "reading/documents/PA_25_00973_A1-ADDENDUM-2294022.pdf"


@dataclass(frozen=True)
class RealTable:
    """A table of a document in the shared data, and some of its cells."""

    file: str
    page: int
    cells: tuple[tuple[str, str, str], ...]  # beginning of the row's heading, the column's whole heading, value


TUNED = (
    RealTable(
        _TEWKESBURY,
        20,
        (
            ("Market town", "Settlements", "Tewkesbury town area1"),
            ("Rural Service Centres", "Settlements", "Bishop’s Cleeve Winchcombe"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        22,
        (
            ("TEW1", "Location", "Land at Odessa Farm, Tewkesbury"),
            ("TEW3", "Site area", "1.3ha"),
            ("WIN1", "Indicative capacity", "80 dwellings"),
            ("COO2", "Site specific policy", "No"),
            ("BRO1", "Indicative capacity", "166 dwellings"),
            ("SHU2", "Location", "Land north of Leckhampton Lane, Shurdington"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        30,
        (
            ("Completions", "Supply", "5,579"),
            ("Windfall sites", "Supply", "414"),
            ("Shortfall still to be provided", "Supply", "518"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        47,
        (
            ("Minsterworth", "Site area (hectares)", "0.40"),
            ("Minsterworth", "Capacity (Pitches)", "7"),
            ("Staverton", "Capacity (Pitches)", "15"),
            ("Badgeworth", "Site area (hectares)", "0.29"),
            ("Badgeworth", "Site Allocations", "Brookside Stables, Cold Pool Lane"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        48,
        (
            ("Travelling households", "2016 - 2021", "4"),
            ("Non-travelling households", "2026 - 31", "6"),
            ("Not Known", "Total", "48"),
            ("Sub-Total", "2021 - 2026", "16"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        52,
        (
            ("Bishops Cleeve", "Site", "Malvern View Business Park"),
            ("Bishops Cleeve", "Notes", "2.24ha extension allocated on adjacent land"),
            ("Churchdown/Staverton", "Notes", "Planning permission granted on 5.9ha of adjacent land"),
            ("Innsworth", "Site", "Innsworth Technology Park"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        153,
        (
            ("1b", "1 storey dwellings", "50"),
            ("1b", "2 storey dwellings", "58"),
            ("1b", "Built-in storage", "1.5"),
            ("3b", "Number of bed spaces (persons)", "5p"),
            ("3b", "3 storey dwellings", "108"),
            ("4b", "Built-in storage", "3.0"),
            ("6b", "2 storey dwellings", "132"),
            ("5b", "1 storey dwellings", "112"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        165,
        (
            ("Paragraph 2.2 - Vision", "NPPG Definition", "A"),
            ("Policy SP1", "NPPG Definition", "A, B, C, E, G"),
            ("Policy SP2", "NPPG Definition", "A, C, E, F, G"),
            ("Policy SD1", "NPPF Guidance", "1"),
            ("Paragraph 2.35", "Comments", "Overarching objectives"),
        ),
    ),
    RealTable(
        _DRAFT_NPPF,
        116,
        (
            ("Development Viability", "National decision- making policy", "DM5: Development Viability"),
            ("Town Centres", "Information requirement", "Town centre impact assessment."),
            ("Transport", "Information requirement", "Travel Plan"),
            ("Transport", "National decision- making policy", "TR6: Assessing transport impacts"),
        ),
    ),
    RealTable(
        _DRAFT_NPPF,
        124,
        (
            (
                "Zone 1 Low Probability",
                "Definition",
                "Land having a less than 0.1% annual probability of river or sea flooding. (All land outside Zones 2, 3a and 3b)",
            ),
            (
                "Zone 2 Medium Probability",
                "Definition",
                "Land having between a 1% and 0.1% annual probability of river flooding; or land having between a 0.5% and 0.1% annual probability of sea flooding. (Land shown in light blue on the Flood Map for Planning)",
            ),
        ),
    ),
    RealTable(
        _DRAFT_NPPF,
        127,
        (
            ("Zone 1", "Flood Risk Vulnerability Classification Essential infrastructure", "✓"),
            ("Zone 2", "Flood Risk Vulnerability Classification Highly vulnerable", "Exception test required"),
            ("Zone 3a", "Flood Risk Vulnerability Classification More vulnerable", "Exception test required"),
            ("Zone 3b", "Flood Risk Vulnerability Classification Less vulnerable", "X"),
            ("Zone 3a", "Flood Risk Vulnerability Classification Water compatible", "✓"),
        ),
    ),
    RealTable(
        _BISHOPSGATE,
        22,
        (
            ("Office (Class E)", "Existing (GIA) sqm", "44,605"),
            ("Office (Class E)", "Proposed (GIA) sqm", "99,005"),
            ("Plant, BMU", "Proposed (GIA) sqm", "40,840"),
            ("Public Cycle Hub", "Proposed (GIA) sqm", "648"),
            ("Total", "Existing (GIA) sqm", "54,344 sqm"),
        ),
    ),
    RealTable(
        _BISHOPSGATE,
        85,
        (
            ("3264AU", "Status", "Application refused on 21 September 1978"),
            (
                "3264BO",
                "Description",
                "Change of use & fitting retail area for use as a staff restaurant & kitchen facility ancillary to office accommodation at 99 Bishopsgate",
            ),
            ("3264CH", "Status", "Application permitted on 10 June 1994"),
            ("3264CW", "Status", "Application permitted on 10 June 1997"),
        ),
    ),
    RealTable(
        _ICELAND_WHARF,
        8,
        (
            ("Private", "Number of Units 2B4P", "27"),
            ("Private", "Number of Units Total", "37"),
            ("Affordable Rent", "Number of Units 3B5P", "3"),
            ("Shared Ownership", "Number of Units 4B5P", "0"),
            ("Total", "Number of Units 3B4P", "10"),
        ),
    ),
    RealTable(
        _ICELAND_WHARF,
        9,
        (
            ("Overall No. of Homes", "Extant Scheme (No. of homes)", "120"),
            ("Overall No. of Homes", "Proposed Development", "165"),
            ("Affordable homes", "Extant Scheme (No. of homes)", "35%"),
            ("1-Bed homes", "Proposed Development", "79 (48%)"),
            ("No. of affordable family homes", "Proposed Development", "22"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        13,
        (
            ("Growth Network", "New Housing (net)", "67%"),
            ("Strategic Centres", "New Supply of Employment Land", "NA"),
            ("Strategic Centres", "Additional Office floorspace (gross)", "90%"),
            ("Outside the Growth Network", "Additional Comparison Retail floorspace (gross)", "See above"),
            ("Total", "New Supply of Employment Land", "650ha"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        31,
        (
            ("Gross Employment Land 2009", "Dudley", "827"),
            ("Additions to Employment Land", "S Staffs", "34"),
            ("Employment land redeveloped to housing", "Sandwell", "392"),
            ("Gross Employment Land 2016", "W’hampton", "743"),
            ("Gross Employment Land 2026", "Total", "2858"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        33,
        (
            ("RC 4", "2009-16", "66"),
            ("RC 4", "2016-26", "2030"),
            ("RC 16", "2009-26", "1446"),
            ("Brierley Hill Strategic Centre", "2009-16", "2306"),
            ("Estimated Housing Demolitions (2009-26)", "2009-26", "-6887"),
            ("Total Net Dwellings", "2016-26", "36738"),
        ),
    ),
)

UNSEEN = (
    RealTable(
        _BLACK_COUNTRY,
        34,
        (
            ("Net Completions 2006-9", "Dudley", "1937"),
            ("RC 2", "Wolverhampton", "873"),
            ("RC 8", "Sandwell", "3910"),
            ("RC 8", "Walsall", "332"),
            ("RC 13", "Total", "4113"),
            ("Strategic Centre Total", "Sandwell", "-"),
            ("Estimated net change", "Wolverhampton", "-1175"),
            ("Total Net Dwellings", "Walsall", "11973"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        36,
        (
            ("Indicative proportion of flats", "High: 45 – 60", "25-50%"),
            ("Indicative amount of housing", "Moderate: 35 – 45", "high"),
            ("Employment - Strategic Centre", "Moderate: 35 – 45", "30 mins"),
            ("Health - Doctor’s surgery", "High: 45 – 60", "10 mins"),
            ("Education - Primary School", "High: 45 – 60", "15 mins"),
            ("Education - Secondary School", "Moderate: 35 – 45", "20 mins"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        36,
        (
            ("LOI HOU2a", "Target", "100% (excluding sites under 35 dph meeting HOU1 criteria)"),
            ("LOI HOU2b", "Target", "20% 1 bedroom; 40% 2 bedroom; 40% 3+ bedroom"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        41,
        (
            ("Dudley", "Employment land stock 2009 (ha) (1)", "827"),
            ("Sandwell", "Proposed employment land stock 2016 (1)", "1214"),
            ("Wolverhampton", "Proposed employment land stock 2026 (1)", "645"),
            ("South Staffordshire", "Employment land stock 2009 (ha) (1)", "21"),
            ("Total", "Proposed employment land stock 2016 (1)", "3447"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        43,
        (
            ("Dudley", "Existing High Quality Employment Land (2009) (ha)", "158"),
            ("Walsall", "Proposed Strategic High Quality Employment Land 2016 (ha)", "149"),
            ("South Staffordshire", "Proposed Strategic High Quality Employment Land target 2026 (ha)", "90"),
            ("TOTAL", "Proposed Strategic High Quality Employment Land target 2026 (ha)", "1564"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        45,
        (
            ("Dudley", "Existing Local Quality Employment Land (2009) (ha)", "669"),
            ("Sandwell", "Proposed Local Quality Employment Target 2026 (ha)", "384"),
            ("Wolverhampton", "Proposed Local Quality Employment Land 2016 (ha)", "526"),
            ("TOTAL", "Existing Local Quality Employment Land (2009) (ha)", "3053"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        78,
        (
            ("MSW", "Minimum Diversion from Landfill 2010/11", "74%"),
            ("MSW", "Minimum Diversion from Landfill 2015/16", "80%"),
            ("C&I", "Minimum Diversion from Landfill 2015/16", "70%"),
            ("C&I", "Minimum Diversion from Landfill 2025/26", "75%"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        78,
        (
            ("Material Recovery", "Total Additional Capacity Required by 2026 (tonnes per annum)", "124,000"),
            ("Composting/ Organic Waste Treatment", "Typical Average Land Take per Facility (ha)", "1.3"),
            ("Non-metal waste", "Typical Average Capacity per Facility (tonnes per annum)", "50,000 - 100,000"),
            ("CD&EW Recovery", "Equivalent No of Facilities Required", "At least 1"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        171,
        (
            ("JCS Requirement = 495 dwellings x 9 years", "DWELLINGS", "4,455"),
            ("Surplus", "TOTALS", "1,124"),
            ("E - Small site windfall allowance", "DWELLINGS", "138"),
            ("Total Deliverable Supply", "TOTALS", "2,028"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        173,
        (
            ("2023-24", "Completions & Commitments", "198"),
            ("2023-24", "Mitton Delivery", "25"),
            ("2024-25", "Borough Plan Delivery", "126"),
            ("2026-27", "Total and Projected Completions", "336"),
            ("2028-29", "Plan - Cumulative Housing Requirement", "8910"),
            ("2030-31", "Cumulative Completions", "9382"),
        ),
    ),
    RealTable(
        _BISHOPSGATE,
        19,
        (
            (
                "Surveyor to the Fabric of St Paul’s Cathedral",
                "Summary of Engagement",
                "A briefing meeting was held with Oliver Caroe",
            ),
            ("Mayor’s London Review Panel", "Summary of Engagement", "On 14 June 2024, the scheme was formally"),
        ),
    ),
    RealTable(
        _DRAFT_NPPF,
        122,
        (
            (
                "Moderate",
                "Illustrative features",
                "Assessment areas that contribute moderately are likely to be adjacent",
            ),
            ("Strong", "Illustrative Features", "Assessment areas that contribute strongly are likely to be free of"),
            (
                "Weak or None",
                "Illustrative Features",
                "Assessment areas that contribute weakly are likely to include those",
            ),
        ),
    ),
    RealTable(
        _ICELAND_WHARF,
        32,
        (
            (
                "1) Enhance local context",
                "Assessment of Proposals at Iceland Wharf",
                "As demonstrated within the submitted DAS",
            ),
            (
                "4) facilitate efficient servicing",
                "Assessment of Proposals at Iceland Wharf",
                "The reconfiguration of the ground floor",
            ),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        98,
        (
            ("Permitted Reserves @ 31.12.08", "Location", "Existing Branton Hill & Aldridge Quarries."),
            ("Additional Permitted Reserves", "Estimated Quantity of Sand and Gravel (million tonnes)", "0.0"),
            (
                "Potential Resources identified",
                "Source of Evidence",
                "Representation from Cemex - Black Country Core Strategy.",
            ),
            ("TOTAL", "Estimated Quantity of Sand and Gravel (million tonnes)", "4.0"),
        ),
    ),
)

LAST = (
    RealTable(
        _BLACK_COUNTRY,
        38,
        (
            ("Permanent Residential Pitches", "Dudley", "21"),
            ("Permanent Residential Pitches", "Wolverhampton", "36"),
            ("Transit Pitches", "Black Country", "10-12"),
            ("Transit Pitches", "Dudley", "10-12 Pitches"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        52,
        (
            ("Wolverhampton", "Delivery of additional comparison floorspace (sqm gross) 2006-2021", "70,000sqm"),
            ("Walsall", "Delivery of additional comparison floorspace (sqm gross) 2021-2026", "25,000sqm"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        97,
        (
            ("8.800", "Annual Production Requirement (million tonnes)", "0.550"),
            ("8.800", "Landbank Permitted Reserves @ 31.12.08 (million tonnes)", "5.210"),
            ("8.800", "Shortfall Reserves Required to Provide Landbank to 2026 (million tonnes)", "8.540"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        85,
        (
            ("Dudley", "C&I*", "125000"),
            ("Sandwell", "Transfer*", "50000"),
            ("Walsall", "CD&EW", "Unable to quantify at present"),
            ("Wolverhampton", "C&I*", "115000"),
            ("Black Country Total", "MSW", "74,000 (material recovery) 54,000 (organic/ composting)"),
            ("Black Country Total", "Transfer*", "155000"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        49,
        (
            ("Travelling households", "2016 - 2021", "18"),
            ("Not Known", "2026 - 31", "1"),
            ("Sub-Total", "Total", "24"),
        ),
    ),
)

_HOUSING, _JOBS = "Total New Housing 2009-2026 (including commitments)", "Total Employment Land 2026 (ha)"
_TRANSPORT, _GREEN = "Transport Improvements", "Environmental Improvements"
_CULTURE = "Cultural and Residential Service Improvements"

HELD_OUT = (
    RealTable(
        _TEWKESBURY,
        55,
        (
            ("Ashchurch Rural", "Site", "Homedowns Achievement Park"),
            ("Ashchurch Rural", "Site", "Newton Farm Business Park"),
            ("Bishops Cleeve", "Notes", "1.68 ha extension"),
            ("Elmstone Hardwicke", "Notes", "3.3 ha extension"),
            ("Gretton", "Site", "Park Farm Industrial Estate"),
            ("Highnam", "Notes", "1.9ha extension"),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        168,
        (
            ("Policy HER2 Listed Buildings", "NPPF Guidance", "5"),
            ("Policy NAT3", "NPPG Definition", "A, B, C, E"),
            ("Policy ENV1", "Comments", "Essential to achieving the wider vision and aspirations of the Local Plan"),
            ("Policy TRAC7", "NPPF Guidance", "3, 5"),
            ("Policy TRAC9", "NPPF Guidance", "3"),
            ("Policy RCN1", "NPPF Guidance", "2, 4"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        15,
        (
            ("Brierley Hill", "Additional Office floorspace (sqm) 2006-26", "220,000"),
            ("Brierley Hill", "New Housing 2009-2026 (including commitments)", "2,940"),
            ("Walsall", "Additional Comparison Retail floorspace (sqm) 2006-26", "85,000"),
            ("Walsall", "Distinctive Strengths & Unique Opportunities", "A blend of heritage and modern architecture"),
            (
                "Walsall",
                "Cultural and Community Service Improvements",
                "A centre for nightlife and cultural facilities",
            ),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        17,
        (
            ("1. Pendeford", _JOBS, "71"),
            ("1. Pendeford", _CULTURE, "Not applicable."),
            ("2. Stafford Road", _HOUSING, "1645"),
            ("3. South of Wolverhampton", _HOUSING, "565"),
            ("3. South of Wolverhampton", _TRANSPORT, "Remodelling of internal road network and links to Penn Road"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        18,
        (
            ("5. Loxdale", _HOUSING, "860"),
            ("5. Loxdale", _JOBS, "86"),
            ("5. Loxdale", _TRANSPORT, "Improve walking, cycling and public transport links."),
            ("5. Loxdale", _CULTURE, "Improvements to George Rose Park as Part of the redevelopment"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        19,
        (
            ("7. Bloxwich", _JOBS, "156"),
            ("7. Bloxwich", _TRANSPORT, "M6J9 and J10 improvements. Relocate Bloxwich Station"),
            ("8. Hill Top", _HOUSING, "5472"),
            ("8. Hill Top", _CULTURE, "Opening of a new medical centre to overcome deficiencies."),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        20,
        (
            ("11a. Dudley", _HOUSING, "1160"),
            ("11a. Dudley", _JOBS, "191"),
            ("11a. Dudley", _GREEN, "Significant areas of high ecological value at Saltwells"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        21,
        (
            ("12. Oldbury", _HOUSING, "5209 including West Bromwich Strategic Cntre"),
            ("12. Oldbury", _JOBS, "411"),
            ("13. Rowley Regis", _HOUSING, "4698"),
            ("13. Rowley Regis", _TRANSPORT, "Platform lengthening and expanded park and Ride"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        22,
        (
            ("16. Coseley", _HOUSING, "1909"),
            ("16. Coseley", _JOBS, "44"),
            ("16. Coseley", _CULTURE, "Neptune Health Park, Tipton is being refurbished"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        84,
        (
            ("Sandown Quarry", "Map Ref", "WP6"),
            ("Sandown Quarry", "Estimated Throughput Capacity (TPA)", "3,000,000 (total capacity)"),
            ("SITA Transfer Station", "Waste Stream(s)", "C&I, CD&EW"),
            ("SITA Transfer Station", "Proposal", "Expansion of Existing Facility (various options)"),
            ("Walsall Borough", "Timescale for Delivery", "2015/16"),
            ("Walsall Borough - Darlaston", "Estimated Throughput Capacity (TPA)", "10 - 15,000"),
        ),
    ),
    RealTable(_BLACK_COUNTRY, 106, (("LOI MIN5", "Target", "100%"),)),
    RealTable(
        _BISHOPSGATE,
        86,
        (
            ("3264DA", "Status", "Application permitted on 19 January 2001"),
            ("06/00305/FULL", "Description", "Installation of lighting to entrance canopy"),
            ("13/00449/FULLR3", "Status", "Application withdrawn on 11 April 2014"),
            ("18/00543/DPAR", "Status", "Prior Approval Required and Refused on 13 July 2018"),
            ("19/00420/FULLR3", "Status", "Application permitted on 6 June 2019"),
        ),
    ),
    RealTable(
        "pdfs/layout/multicolumn.pdf",
        3,
        (
            ("Austria", "Population (millions)", "8.9"),
            ("Belgium", "Official Language", "Dutch, French, German"),
            ("Czech Republic", "Capital", "Prague"),
            ("Finland", "Area (km2)", "338,424"),
        ),
    ),
    RealTable(
        "pdfs/layout/i1040nr.pdf",
        46,
        (
            ("At least $100,000 but not over $160,850", "(d) Subtraction amount", "$ 5,889.25"),
            ("Over $160,850 but not over $349,700", "(b) Multiplication amount", "× 33% (.33)"),
            ("At least $100,000 but not over $128,500", "(d) Subtraction amount", "$ 7,152.50"),
            ("Over $195,850 but not over $349,700", "(d) Subtraction amount", "$ 20,800.00"),
        ),
    ),
)

_OVERARCHING = "Overarching objective"
_ASSESSMENT = "Assessment of Proposals at Iceland Wharf"

FRESH = (
    RealTable(
        "pdfs/layout/i1040nr.pdf",
        39,
        (
            ("41,000", "And you are - Single Your tax is -", "6,680"),
            ("41,350", "And you are - Qualifying widow(er) Your tax is -", "5,424"),
            ("45,800", "And you are - Married filing separately Your tax is -", "7,880"),
            ("49,950", "And you are - Qualifying widow(er) Your tax is -", "6,714"),
        ),
    ),
    RealTable(
        _BISHOPSGATE,
        87,
        (
            ("21/00242/FULLR3", "Description", "Temporary installation of two artworks for a period of up to 24"),
            ("21/00242/FULLR3", "Status", "Application permitted on 25 May 2021"),
            ("23/01122/SCOP", "Description", "The City of London Corporation has received a request for an EIA"),
            ("23/01122/SCOP", "Status", "Application permitted on 8 March 2024"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        55,
        (("LOI CEN5 - Amount of additional", "Target", "In accordance with the target set out in the policy"),),
    ),
    RealTable(
        _TEWKESBURY,
        169,
        (
            ("Policy RCN2 New Sports", "NPPF Guidance", "2, 4"),
            ("Policy RCN2 New Sports", "NPPG Definition", "A, B, C, D, E"),
            ("Policy COM2 Broadband Provision", "NPPF Guidance", "3"),
            ("Policy COM2 Broadband Provision", "Comments", _OVERARCHING),
        ),
    ),
    RealTable(
        _TEWKESBURY,
        166,
        (
            ("Policy SD4", "NPPF Guidance", "3, 4, 5"),
            ("Policy SD5", "Comments", "Overarching objective / Essential to delivery of development strategy"),
            ("Policy SD8", "NPPG Definition", "A, B, D, E"),
            ("Policy SA1", "NPPF Guidance", "1, 2, 3, 4, 5"),
            ("Policy INF7", "NPPG Definition", "A, E"),
            ("Vision", "NPPG Definition", "A"),
            ("Objectives", "Comments", "Overarching objectives"),
        ),
    ),
    RealTable(_BLACK_COUNTRY, 48, (("LOI EMP6 - Loss of sub-regionally", "Target", "0"),)),
    RealTable(
        _BLACK_COUNTRY,
        81,
        (
            ("LOI WM1b", "Target", "100% of requirements in Table 16."),
            ("COI WM1a", "Target", "Will be used to monitor waste capacity in accordance with above targets."),
            ("LOI WM1c", "Target", "0% by 2026."),
        ),
    ),
    RealTable(
        _ICELAND_WHARF,
        33,
        (
            ("5) achieve safe", _ASSESSMENT, "As set out within the Landscape DAS, the proposals have been developed"),
            ("9) help prevent", _ASSESSMENT, "In response to further queries raised in relation to the impacts of"),
            ("10) achieve indoor", _ASSESSMENT, "As set out, the proposals incorporate a range of spaces"),
        ),
    ),
    RealTable(
        _DRAFT_NPPF,
        123,
        (
            ("Strong", "Illustrative Features", "Assessment areas that contribute strongly are likely be free of"),
            ("Moderate", "Illustrative Features", "Assessment areas that perform moderately are likely to form part"),
            ("Weak or None", "Illustrative Features", "Assessment areas that make no or only a weak contribution"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        83,
        (
            ("COI WM2", "Target", "Will be used to monitor new strategic capacity coming forward"),
            ("Aldridge Quarry", "Map Ref", "WP1"),
            ("Aldridge Quarry", "Estimated Throughput Capacity (TPA)", "765,000 (total capacity)"),
            ("Dudley Borough - north", "Proposal", "Additional HWRC"),
            ("Former Trident", "Waste Stream(s)", "C&I, CD&EW"),
            ("Oak Farm Clay Pit", "Authority", "Dudley"),
            ("Pikehelve", "Timescale for Delivery", "By 2014/15"),
        ),
    ),
    RealTable(
        _BLACK_COUNTRY,
        101,
        (
            ("Aldridge", "Source of Supply", "Highfields South (Walsall)"),
            ("Atlas", "Future Potential Supply Category", "1"),
            ("Cradley", "Operator", "Cradley Special Brick"),
            ("Sedgley*", "Authority", "South Staffs."),
            ("Sandown", "Current Supply Category", "3"),
            ("Stourbridge", "Current Status", "Mothballed"),
            ("LOI MIN3b", "Target", "0%"),
        ),
    ),
)
